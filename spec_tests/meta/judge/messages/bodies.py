"""Small Messages requests for the tests of the judge."""

from __future__ import annotations

from typing import Any

Message = dict[str, Any]
Block = dict[str, Any]

USER: Message = {"role": "user", "content": "go"}


def request(*messages: object, **options: object) -> dict[str, Any]:
    """A request with these messages, or with a single one of the user."""
    return {"model": "m", "max_tokens": 9, "messages": list(messages) or [USER], **options}


def user(*blocks: object) -> Message:
    """A user message of these blocks; a string is a text block."""
    return {"role": "user", "content": [text(block) if isinstance(block, str) else block for block in blocks]}


def assistant(*blocks: object) -> Message:
    """An assistant message of these blocks; a string is a text block."""
    return {**user(*blocks), "role": "assistant"}


def system(*blocks: object) -> Message:
    """A system message within the history."""
    return {**user(*blocks), "role": "system"}


def text(words: str = "hi", /, **members: object) -> Block:
    """A text block."""
    return {"type": "text", "text": words, **members}


def call(id: str = "a", /, **members: object) -> Block:
    """A tool_use block with this id, whose members may be put in place of the usual ones."""
    return {"type": "tool_use", "id": id, "name": "f", "input": {}, **members}


def result(id: str = "a", /, **members: object) -> Block:
    """A tool_result block that answers the call with this id."""
    return {"type": "tool_result", "tool_use_id": id, "content": "done", **members}


def block(kind: str, /, **members: object) -> Block:
    """A block of any kind."""
    return {"type": kind, **members}


def tool(name: str = "f", /, **members: object) -> dict[str, Any]:
    """A custom tool."""
    return {"name": name, "input_schema": {"type": "object"}, **members}


THOUGHT = block("thinking", thinking="hm", signature="s")
SEARCH = block("server_tool_use", id="srvtoolu_1", name="web_search", input={"query": "x"})
FOUND = block("web_search_tool_result", tool_use_id="srvtoolu_1", content=[])
IMAGE = block("image", source={"type": "url", "url": "https://example.org/a.png"})


def without(value: dict[str, Any], *names: str) -> dict[str, Any]:
    """The object but for these members."""
    return {name: member for name, member in value.items() if name not in names}
