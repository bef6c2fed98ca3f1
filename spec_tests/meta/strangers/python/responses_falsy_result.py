"""A tool that returns 0, false, or an empty text, list or object is answered with a text that there is no result.

Function calling guide, Handling function calls: the output is the function's return value, even if it is falsy.
Reported as agno-agi/agno#9948. Other values and errors are handled correctly.
"""

# ruff: noqa: BLE001, S310
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
    error_text,
    find,
    offered,
    outcome,
    read_arguments,
    responses_text,
    responses_tools,
    started,
)


def ask(case: Json, body: Json) -> Json:
    """Ask the model once."""
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {case['api_key']}"}
    request = urllib.request.Request(f"{case['base_url']}/responses", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
        reply: Json = json.load(response)
    return reply


def answer(tools: dict[str, Json], item: Json) -> list[Json]:
    """Answer an item, if it wants an answer."""
    match item:
        case {"type": "function_call", "call_id": id, "name": name, "arguments": raw}:
            return [{"type": "function_call_output", "call_id": id, "output": text_of(find(tools, name), name, raw)}]
        case {"type": "custom_tool_call", "call_id": id, "name": name}:
            return [{"type": "custom_tool_call_output", "call_id": id, "output": f"Error: no tool {name!r}"}]
        case _:
            return []


def text_of(tool: Json | None, name: str, raw: Any) -> str:
    """Run a tool, and write what it returned as text."""
    if tool is None:
        return f"Error: there is no tool named {name!r}"
    try:
        arguments = read_arguments(raw)
    except ValueError as error:
        return f"Error: the arguments cannot be read: {error}"
    try:
        value = call_tool(tool, arguments)
    except Exception as error:
        return error_text(error)
    return as_text(value or "(The tool returned no result.)")


def loop(case: Json) -> str:
    """Ask until no item wants an answer."""
    tools, items = offered(case["tools"]), list(case["messages"])
    fixed: Json = {"model": case["model"], "store": False, "include": ["reasoning.encrypted_content"]}
    if tools:
        fixed["tools"] = responses_tools(tools)
    for _ in range(case["options"].get("limit", LIMIT)):
        match ask(case, fixed | {"input": items}):
            case {"status": "completed", "output": list(output)}:
                results = [result for item in output for result in answer(tools, item)]
                if not results:
                    return responses_text(output)
                items = [*items, *output, *results]
            case {"status": "incomplete", "incomplete_details": details}:
                raise Stopped("truncated", f"the response is incomplete: {details}")
            case reply:
                raise Stopped("provider", f"{reply.get('status')}: {reply.get('error')}")
    raise Stopped("limit", "too many turns")


class Driver:
    """Runs the loop."""

    def start(self) -> Json:
        return started("responses-falsy-result", ["openai-responses"], ["sync"], limit=True, concurrent=True)

    def run(self, case: Json, emit: Any) -> Json:
        return outcome(lambda: loop(case))
