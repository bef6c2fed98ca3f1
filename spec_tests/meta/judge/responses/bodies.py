"""Small requests for the tests of the judge of the Responses wire."""

from __future__ import annotations

from typing import Any

Item = dict[str, Any]

USER: Item = {"role": "user", "content": "go"}


def request(*items: object, **options: object) -> dict[str, Any]:
    """A request with these input items, or with a single message of the user."""
    return {"model": "m", "input": list(items) or [USER], **options}


def call(name: str = "a", /, **members: object) -> Item:
    """A function call with this call_id."""
    return {"type": "function_call", "call_id": name, "name": "f", "arguments": "{}", **members}


def output(name: str = "a", /, **members: object) -> Item:
    """The output of the function call with this call_id."""
    return {"type": "function_call_output", "call_id": name, "output": "done", **members}


def custom(name: str = "a", /, **members: object) -> Item:
    """A custom call with this call_id."""
    return {"type": "custom_tool_call", "call_id": name, "name": "f", "input": "x", **members}


def custom_output(name: str = "a", /, **members: object) -> Item:
    """The output of the custom call with this call_id."""
    return {"type": "custom_tool_call_output", "call_id": name, "output": "done", **members}


def tool_search(name: str = "a", /, **members: object) -> Item:
    """A search for tools that the client is to run."""
    return {"type": "tool_search_call", "call_id": name, "execution": "client", "arguments": {}, **members}


def thought(id: str | None = "rs_a", /, **members: object) -> Item:
    """A reasoning item; None: without an id."""
    named = {} if id is None else {"id": id}
    return {"type": "reasoning", **named, "summary": [], **members}


def says(text: str = "hi", /, **members: object) -> Item:
    """A message of the model, as it was sent."""
    return {"type": "message", "role": "assistant", "content": [part("output_text", text=text)], **members}


def part(kind: str, /, **members: object) -> dict[str, Any]:
    """A content part; one of text unless its members are given."""
    return {"type": kind, **(members or {"text": "hi"})}


def reference(id: str) -> Item:
    """An item that the service is to look up."""
    return {"type": "item_reference", "id": id}


def namespace(*tools: object, **members: object) -> dict[str, Any]:
    """A namespace of these tools, as the vendor's own client offers those of an MCP server."""
    return {"type": "namespace", "name": "mcp__kit", "description": "d", "tools": list(tools), **members}


def tool(name: str = "f", /, **members: object) -> dict[str, Any]:
    """A function tool."""
    parameters = {"type": "object", "properties": {"x": {"type": "string"}}}
    return {"type": "function", "name": name, "parameters": parameters, **members}
