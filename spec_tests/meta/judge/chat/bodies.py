"""Small requests for the tests of the judge."""

from __future__ import annotations

from typing import Any

Message = dict[str, Any]

USER: Message = {"role": "user", "content": "go"}


def request(*messages: object, **options: object) -> dict[str, Any]:
    """A request with these messages, or with a single one of the user."""
    return {"model": "m", "messages": list(messages) or [USER], **options}


def call(name: str, /, **members: object) -> dict[str, Any]:
    """A call with this id, whose members may be put in place of the usual ones."""
    return {"id": name, "type": "function", "function": {"name": "f", "arguments": "{}"}, **members}


def asks(*calls: str | dict[str, Any], **members: object) -> Message:
    """An assistant message with calls, given whole or by their ids."""
    whole = [call(one) if isinstance(one, str) else one for one in calls]
    return {"role": "assistant", "content": None, "tool_calls": whole, **members}


def result(name: str, /, **members: object) -> Message:
    """A tool message that answers the call with this id."""
    return {"role": "tool", "tool_call_id": name, "content": "done", **members}


def tool(name: str = "f", /, **members: object) -> dict[str, Any]:
    """A function tool."""
    parameters = {"type": "object", "properties": {"x": {"type": "string"}}}
    return {"type": "function", "function": {"name": name, "parameters": parameters, **members}}


def part(kind: str, /, **members: object) -> dict[str, Any]:
    """A content part; one of text unless its members are given."""
    return {"type": kind, **(members or {"text": "hi"})}


IMAGE = part("image_url", image_url={"url": "https://example.org/a.png"})
