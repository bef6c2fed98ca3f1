"""No fault: a loop on Chat Completions that validates the arguments of each call against the offered schema.

The function calling guide asks to validate the model's arguments. Invalid arguments run nothing: the model gets the
error, as for arguments that are not JSON. If a schema itself is invalid, its arguments are not validated.
"""

# ruff: noqa: BLE001, S310
# mypy: disable-error-code="import-not-found, no-any-return"

from __future__ import annotations

import json
import sys
import urllib.request
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry

sys.path.insert(0, str(Path(__file__).resolve().parent))

from handlers import (
    LIMIT,
    TIMEOUT,
    Json,
    Stopped,
    as_text,
    chat_tools,
    chat_turn,
    find,
    offered,
    outcome,
    read_arguments,
    run_call,
    schema,
    started,
)


def complaints(tool: Json, arguments: Json) -> list[str]:
    """Say what is wrong with arguments, by the schema of their tool."""
    declared = schema(tool)
    try:
        Draft202012Validator.check_schema(declared)
        validator: Any = Draft202012Validator(declared, registry=Registry())
        return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(arguments)]
    except Exception:
        return []


def answer(tools: dict[str, Json], call: Json) -> str:
    """Run a call if its arguments are sound, and write what came of it."""
    function = call.get("function") or {}
    name, raw = function.get("name"), function.get("arguments")
    tool = find(tools, name)
    if tool is not None:
        try:
            wrong = complaints(tool, read_arguments(raw))
        except ValueError as error:
            wrong = [str(error)]
        if wrong:
            return as_text(f"Error: the arguments of {name} are wrong, and nothing was run. " + "; ".join(wrong[:5]))
    return run_call(tools, name, raw)[0]


def ask(case: Json, body: Json) -> Json:
    """Ask the model once, and return its message if that is whole."""
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {case['api_key']}"}
    request = urllib.request.Request(f"{case['base_url']}/chat/completions", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
        reply = json.load(response)
    if not reply.get("choices"):
        raise Stopped("provider", f"no choices: {reply.get('error')}")
    choice = reply["choices"][0]
    message: Json = choice["message"]
    if message.get("refusal"):
        raise Stopped("refusal", message["refusal"])
    if choice.get("finish_reason") in ("length", "content_filter"):
        raise Stopped("truncated", f"finish reason {choice['finish_reason']}")
    if message.get("function_call"):
        raise Stopped("other", "calls of the old kind are not known here")
    return message


def loop(case: Json) -> str:
    """Ask until the model calls nothing."""
    tools = offered(case["tools"])
    body: Json = {"model": case["model"], "messages": list(case["messages"])}
    if tools:
        body["tools"] = chat_tools(tools)
    for _ in range(case["options"].get("limit", LIMIT)):
        message = ask(case, body)
        turn = chat_turn(message)
        if not turn["tool_calls"]:
            return message.get("content") or ""
        results = [
            {"role": "tool", "tool_call_id": call["id"], "content": answer(tools, call)} for call in turn["tool_calls"]
        ]
        body["messages"] += [turn, *results]
    raise Stopped("limit", "too many turns")


class Driver:
    """Runs the loop."""

    def start(self) -> Json:
        return started("right-chat-validates", ["openai-chat"], ["sync"], limit=True, concurrent=True)

    def run(self, case: Json, emit: Any) -> Json:
        return outcome(lambda: loop(case))
