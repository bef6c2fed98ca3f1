"""Reads a Chat Completions request into the provider-neutral history, leniently: the judge checks it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from looptck.values.history import Answered, Asked, Item, Offered, Request, Said
from looptck.values.images import Shown, at_url
from looptck.values.turns import Turn
from looptck.wires.parts import parts_of


def read(body: object) -> Request:
    """The provider-neutral form of a request; unreadable parts are omitted."""
    fields = _object(body)
    return Request(
        model=_text(fields.get("model")),
        stream=fields.get("stream") is True,
        items=tuple(items(_list(fields.get("messages")))),
        tools=tuple(_tools(fields.get("tools"))),
    )


def echo(turn: Turn) -> list[Item]:
    """A turn as the next request should carry it: one message, so text before calls."""
    text = turn.text or turn.refusal
    said: list[Item] = [Said("assistant", text)] if text else []
    return [*said, *(Asked(call.id or "", call.tool, call.arguments) for call in turn.calls)]


def items(messages: list[Any], first: int = 0) -> Iterator[Item]:
    """The items of these messages; ``first``: the index of the first one."""
    for place, entry in enumerate(messages, first):
        message = _object(entry)
        pointer = f"/messages/{place}"
        role = _text(message.get("role"))
        text = _text(message.get("content"))
        parts = parts_of(message.get("content"), _image)
        if role == "tool":
            yield Answered(_text(message.get("tool_call_id")), text, pointer, parts=parts)
            continue
        calls = _list(message.get("tool_calls"))
        if text or not calls:
            yield Said(role, text, f"{pointer}/content", parts)
        for number, call in enumerate(calls):
            yield _call(_object(call), f"{pointer}/tool_calls/{number}")


def _call(call: dict[str, Any], pointer: str) -> Asked:
    function = _object(call.get("function"))
    arguments = function.get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return Asked(_text(call.get("id")), _text(function.get("name")), text, pointer)


def _image(part: dict[str, Any]) -> Shown | None:
    return at_url(_text(_object(part.get("image_url")).get("url"))) if part.get("type") == "image_url" else None


def _tools(tools: object) -> Iterator[Offered]:
    for place, entry in enumerate(_list(tools)):
        function = _object(_object(entry).get("function"))
        yield Offered(
            _text(function.get("name")),
            _text(function.get("description")),
            function.get("parameters"),
            f"/tools/{place}/function",
            function.get("strict") is True,
        )


def _text(value: object) -> str:
    """Text, or the joined text parts of a content list; empty for anything else."""
    if isinstance(value, str):
        return value
    parts = (_object(part).get("text") for part in _list(value))
    return "".join(part for part in parts if isinstance(part, str))


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
