"""Earlier assistant turns are dropped from the prompt.

Chat Completions, messages: the list is the whole conversation; the service stores nothing.
Facts: what-people-hit.md, section 1.
"""

# ruff: noqa: BLE001, S310
# mypy: disable-error-code="import-not-found, no-any-return"

from __future__ import annotations

import json
import sys
import urllib.request
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from handlers import (
    LIMIT,
    TIMEOUT,
    Json,
    Stopped,
    as_text,
    call_tool,
    chat_tools,
    chat_turn,
    error_text,
    find,
    offered,
    outcome,
    read_arguments,
    started,
)


class Driver:
    """Runs the loop, one case at a time or several."""

    def start(self) -> Json:
        return started("no-assistant-turns", ["openai-chat"], ["sync"], limit=True, concurrent=True)

    def run(self, case: Json, emit: Any) -> Json:
        return outcome(lambda: loop(case))


def loop(case: Json) -> str:
    """Ask the model, run its calls, and ask again until it answers."""
    tools = offered(case["tools"])
    body: Json = {
        "model": case["model"],
        "messages": [item for item in case["messages"] if item["role"] != "assistant"],
    }
    if tools:
        body["tools"] = chat_tools(tools)
    for _ in range(case["options"].get("limit", LIMIT)):
        choice = ask(case, body)["choices"][0]
        message, reason = choice["message"], choice.get("finish_reason")
        if message.get("refusal"):
            raise Stopped("refusal", message["refusal"])
        if reason in ("length", "content_filter"):
            raise Stopped("truncated", f"the turn was cut: {reason}")
        turn = chat_turn(message)
        if not turn["tool_calls"]:
            return message.get("content") or ""
        body["messages"].append(turn)
        for call in turn["tool_calls"]:
            text = run(tools, call)
            body["messages"].append({"role": "tool", "tool_call_id": call["id"], "content": text})
    raise Stopped("limit", "the limit of model calls is reached")


def run(tools: dict[str, Json], call: Json) -> str:
    """Run one call, and write its result as text."""
    function = call.get("function") or {}
    tool = find(tools, function.get("name"))
    if tool is None:
        return f"Error: there is no tool named {function.get('name')!r}"
    try:
        arguments = read_arguments(function.get("arguments"))
    except ValueError as error:
        return f"Error: the arguments cannot be read: {error}"
    try:
        return as_text(call_tool(tool, arguments))
    except Exception as error:
        return error_text(error)


def ask(case: Json, body: Json) -> Json:
    """Send a request."""
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {case['api_key']}"}
    request = urllib.request.Request(f"{case['base_url']}/chat/completions", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
        reply: Json = json.load(response)
    if reply.get("error"):
        raise Stopped("provider", str(reply["error"]))
    return reply
