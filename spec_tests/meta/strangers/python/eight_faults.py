"""A loop with eight faults at once; the folder `eight` has one file for each of them.

The faults are from what-people-hit.md, section 1:

1. When a tool fails, a user message follows its result, before the remaining results.
2. Types, `required` and descriptions of all parameters are missing in the offered tools.
3. Earlier assistant turns are dropped from the prompt.
4. An answer that was truncated before its first token is returned as an empty answer.
5. The text of an earlier turn with calls is returned as the answer if the last turn is empty.
6. A second call with the same arguments is answered from a cache without running the tool.
7. The loop crashes if the arguments of a call are null.
8. A tool exception without a message is answered with an empty result.
"""

# ruff: noqa: BLE001, S310, TRY004, TRY301
# mypy: disable-error-code="import-not-found, no-any-return"

from __future__ import annotations

import json
import sys
import urllib.request
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from handlers import (
    LIMIT,
    TIMEOUT,
    Json,
    Stopped,
    as_text,
    call_tool,
    chat_turn,
    error_text,
    find,
    offered,
    outcome,
    started,
)


class Driver:
    """Runs the loop, one case at a time or several."""

    def start(self) -> Json:
        return started("eight-faults", ["openai-chat"], ["sync"], limit=True, concurrent=True)

    def run(self, case: Json, emit: Any) -> Json:
        return outcome(lambda: loop(case))


def loop(case: Json) -> str:
    """Run one call; return its result, and whether it failed."""
    tools = offered(case["tools"])
    functions = [
        {
            "name": name,
            "description": tool["description"],
            "parameters": {
                "type": "object",
                "properties": {key: {} for key in tool["parameters"].get("properties", {})},
            },
        }
        for name, tool in tools.items()
    ]
    body: Json = {
        "model": case["model"],
        "messages": [item for item in case["messages"] if item["role"] != "assistant"],
    }
    if tools:
        body["tools"] = [{"type": "function", "function": function} for function in functions]
    said = ""
    cache: dict[str, str] = {}
    for _ in range(case["options"].get("limit", LIMIT)):
        choice = ask(case, body)["choices"][0]
        message, reason = choice["message"], choice.get("finish_reason")
        if message.get("refusal"):
            raise Stopped("refusal", message["refusal"])
        if reason == "content_filter" or (reason == "length" and (message.get("content") or message.get("tool_calls"))):
            raise Stopped("truncated", f"the turn was cut: {reason}")
        turn = chat_turn(message)
        if not turn["tool_calls"]:
            return message.get("content") or said
        said = message.get("content") or said
        body["messages"].append(turn)
        for call in message["tool_calls"]:
            text, failed = run(tools, call, cache)
            body["messages"].append({"role": "tool", "tool_call_id": call["id"], "content": text})
            if failed:
                body["messages"].append({"role": "user", "content": "That tool failed. Think about what to do now."})
    raise Stopped("limit", "the limit of model calls is reached")


def run(tools: dict[str, Json], call: Json, cache: dict[str, str]) -> tuple[str, bool]:
    """Run one call, and say whether it failed."""
    function = call.get("function") or {}
    key = json.dumps([function.get("name"), function.get("arguments")])
    if key in cache:
        return cache[key], False
    tool = find(tools, function.get("name"))
    if tool is None:
        return f"Error: there is no tool named {function.get('name')!r}", True
    try:
        raw = function["arguments"]
        arguments = raw if isinstance(raw, dict) else json.loads(raw.strip() or "{}")
        if not isinstance(arguments, dict):
            raise ValueError("they are not an object")
    except (ValueError, RecursionError) as error:
        return f"Error: the arguments cannot be read: {error}", True
    try:
        cache[key] = as_text(call_tool(tool, arguments))
        return cache[key], False
    except Exception as error:
        return error_text(error) if str(error) else "", True


def ask(case: Json, body: Json) -> Json:
    """Send a request."""
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {case['api_key']}"}
    request = urllib.request.Request(f"{case['base_url']}/chat/completions", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
        reply: Json = json.load(response)
    if reply.get("error"):
        raise Stopped("provider", str(reply["error"]))
    return reply
