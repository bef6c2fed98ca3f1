"""Only the first part of an answer with several parts or messages is returned.

Responses, output: a response may have several message items, and a message several parts; all of them
are the answer.
Reported, in other places, as google/adk-python#606 and openai/openai-java#625. The chunks of a stream are correct.
"""

# mypy: disable-error-code="import-not-found, no-any-return"

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from openai import OpenAI

sys.path.insert(0, str(Path(__file__).resolve().parent))

from handlers import LIMIT, TIMEOUT, Json, Stopped, offered, outcome, responses_text, responses_tools, run_call, started

if TYPE_CHECKING:
    from collections.abc import Callable

LAST = ("response.completed", "response.incomplete", "response.failed")


def streamed(client: OpenAI, body: Json, emit: Callable[[str], None]) -> Json:
    """Stream a response, hand its text on, and return it."""
    items: dict[int, Json] = {}
    for item in client.responses.create(**body, stream=True):
        event: Json = item.to_dict(warnings=False)
        if event["type"] == "response.output_text.delta" and event["delta"]:
            emit(event["delta"])
        elif event["type"] == "response.output_item.done":
            items[event["output_index"]] = event["item"]
        elif event["type"] in LAST:
            whole: Json = event["response"]
            return whole | {"output": whole.get("output") or [items[at] for at in sorted(items)]}
        elif event["type"] == "error":
            raise Stopped("stream", str(event.get("message")))
    raise Stopped("stream", "the stream ended before the response did")


def answer(output: list[Json]) -> str:
    """Take the answer out of the items of a response."""
    responses_text(output)  # tells of a refusal
    for item in output:
        if item["type"] == "message":
            for part in item["content"]:
                if part["type"] == "output_text":
                    return str(part["text"])
    return ""


def loop(client: OpenAI, case: Json, emit: Callable[[str], None]) -> str:
    """Ask until the model calls nothing."""
    tools, items = offered(case["tools"]), list(case["messages"])
    fixed: Json = {"model": case["model"], "store": False, "include": ["reasoning.encrypted_content"]}
    if tools:
        fixed["tools"] = responses_tools(tools)
    for _ in range(case["options"].get("limit", LIMIT)):
        body = fixed | {"input": items}
        reply: Json
        if case["stream"]:
            reply = streamed(client, body, emit)
        else:
            reply = client.responses.create(**body).to_dict(warnings=False)
        if reply.get("status") == "incomplete":
            raise Stopped("truncated", f"the response is incomplete: {reply.get('incomplete_details')}")
        if reply.get("status") != "completed":
            raise Stopped("provider", f"{reply.get('status')}: {reply.get('error')}")
        calls = [item for item in reply["output"] if item["type"] in ("function_call", "custom_tool_call")]
        if not calls:
            return answer(reply["output"])
        items = [*items, *reply["output"], *(result(tools, call) for call in calls)]
    raise Stopped("limit", "too many turns")


def result(tools: dict[str, Json], call: Json) -> Json:
    """Run a call, and write its output."""
    text, _ = run_call(tools if call["type"] == "function_call" else {}, call["name"], call.get("arguments"))
    return {"type": f"{call['type']}_output", "call_id": call["call_id"], "output": text}


class Driver:
    """Runs the loop."""

    def start(self) -> Json:
        able = {"stream": True, "chunks": True, "limit": True, "concurrent": True}
        return started("responses-first-part", ["openai-responses"], ["sync"], **able)

    def run(self, case: Json, emit: Callable[[str], None]) -> Json:
        def go() -> str:
            with OpenAI(base_url=case["base_url"], api_key=case["api_key"], timeout=TIMEOUT) as client:
                return loop(client, case, emit)

        return outcome(go)
