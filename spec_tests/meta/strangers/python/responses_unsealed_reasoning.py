"""The service stores nothing, but the encrypted content of reasoning is neither requested nor sent back.

Reasoning guide, Keeping reasoning items in context: with `store: false` an item can be sent back with its encrypted
content only, which `include` asks for.
"""

# ruff: noqa: S310
# mypy: disable-error-code="import-not-found, no-any-return"

from __future__ import annotations

import json
import sys
import urllib.request
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))

from handlers import LIMIT, TIMEOUT, Json, Stopped, offered, outcome, responses_text, responses_tools, run_call, started


class State(NamedTuple):
    """What a run knows: the conversation, and the answer as soon as there is one."""

    case: Json
    input: tuple[Json, ...]
    answer: str | None = None


def ask(state: State) -> list[Json]:
    """Ask for a response, and return its items if it is complete."""
    tools = offered(state.case["tools"])
    body = {"model": state.case["model"], "input": state.input, "store": False}
    body |= {"tools": responses_tools(tools)} if tools else {}
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {state.case['api_key']}"}
    request = urllib.request.Request(f"{state.case['base_url']}/responses", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
        reply: Json = json.load(response)
    if reply.get("status") == "incomplete":
        raise Stopped("truncated", f"the response is incomplete: {reply.get('incomplete_details')}")
    if reply.get("status") != "completed":
        raise Stopped("provider", f"the response is {reply.get('status')}: {reply.get('error')}")
    return reply["output"]


def sent_back(item: Json) -> Json:
    """Write an item as it goes back."""
    if item["type"] != "reasoning":
        return item
    return {"type": "reasoning", "id": item["id"], "summary": item.get("summary") or []}  # the fault


def step(state: State, _: int) -> State:
    """Ask once, and run what is called."""
    if state.answer is not None:
        return state
    items, tools = ask(state), offered(state.case["tools"])
    calls = [item for item in items if item["type"] in ("function_call", "custom_tool_call")]
    if not calls:
        return state._replace(answer=responses_text(items))
    outputs = (
        {
            "type": f"{call['type']}_output",
            "call_id": call["call_id"],
            "output": run_call(tools if "arguments" in call else {}, call["name"], call.get("arguments"))[0],
        }
        for call in calls
    )
    return state._replace(input=(*state.input, *map(sent_back, items), *outputs))


def loop(case: Json) -> str:
    """Step as often as the limit allows."""
    turns = range(case["options"].get("limit", LIMIT))
    state = reduce(step, turns, State(case, tuple(case["messages"])))
    if state.answer is None:
        raise Stopped("limit", "too many turns")
    return state.answer


class Driver:
    """Runs the loop."""

    def start(self) -> Json:
        return started("responses-unsealed-reasoning", ["openai-responses"], ["sync"], limit=True, concurrent=True)

    def run(self, case: Json, emit: Any) -> Json:
        return outcome(lambda: loop(case))
