"""How each wire writes a conversation and a tool in a request."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from looptck.catalogue.agents import Tool
from looptck.values.history import Answered, Asked, Item, Said


def _chat(items: Iterable[Item]) -> dict[str, Any]:
    messages: list[dict[str, Any]] = []
    for item in items:
        match item:
            case Said(role, text):
                messages.append({"role": role, "content": text})
            case Asked(id, tool, arguments):
                if not messages or messages[-1]["role"] != "assistant":
                    messages.append({"role": "assistant", "content": None})
                call = {"id": id, "type": "function", "function": {"name": tool, "arguments": arguments}}
                messages[-1].setdefault("tool_calls", []).append(call)
            case Answered(id, text):
                messages.append({"role": "tool", "tool_call_id": id, "content": text})
    return {"messages": messages}


def _messages(items: Iterable[Item]) -> dict[str, Any]:
    messages: list[dict[str, Any]] = []
    system = ""
    for item in items:
        match item:
            case Said("system", text):
                system = text
            case Said(role, text):
                _block(messages, role, {"type": "text", "text": text})
            case Asked(id, tool, arguments):
                block = {"type": "tool_use", "id": id, "name": tool, "input": json.loads(arguments or "{}")}
                _block(messages, "assistant", block)
            case Answered(id, text, failed=failed):
                mark = {"is_error": True} if failed else {}
                _block(messages, "user", {"type": "tool_result", "tool_use_id": id, "content": text, **mark})
    return {"messages": messages, **({"system": system} if system else {})}


def _block(messages: list[dict[str, Any]], role: str, block: dict[str, Any]) -> None:
    if not messages or messages[-1]["role"] != role:
        messages.append({"role": role, "content": []})
    messages[-1]["content"].append(block)


def _responses(items: Iterable[Item]) -> dict[str, Any]:
    entries: list[dict[str, Any]] = []
    for item in items:
        match item:
            case Said(role, text):
                entries.append({"type": "message", "role": role, "content": text})
            case Asked(id, tool, arguments):
                entries.append({"type": "function_call", "call_id": id, "name": tool, "arguments": arguments})
            case Answered(id, text):
                entries.append({"type": "function_call_output", "call_id": id, "output": text})
    return {"input": entries}


def _function(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters}


MESSAGES: Mapping[str, Callable[[Iterable[Item]], dict[str, Any]]] = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic-messages": _messages,
}
TOOLS: Mapping[str, Callable[[Tool], dict[str, Any]]] = {
    "openai-chat": lambda tool: {"type": "function", "function": _function(tool)},
    "openai-responses": lambda tool: {"type": "function", **_function(tool)},
    "anthropic-messages": lambda tool: {
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.parameters,
    },
}
