"""Reads a Chat Completions request into the provider-neutral history, leniently: the judge checks it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from looptck.values.history import Answered, Asked, Item, Offered, Request, Said
from looptck.values.images import Shown, at_url
from looptck.values.lenient import as_list, as_object, as_text
from looptck.values.turns import Turn
from looptck.wires.parts import parts_of


def read(body: object) -> Request:
    """The provider-neutral form of a request; unreadable parts are omitted."""
    fields = as_object(body)
    return Request(
        model=as_text(fields.get("model")),
        stream=fields.get("stream") is True,
        items=tuple(items(as_list(fields.get("messages")))),
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
        message = as_object(entry)
        pointer = f"/messages/{place}"
        role = as_text(message.get("role"))
        text = as_text(message.get("content"))
        parts = parts_of(message.get("content"), _image)
        if role == "tool":
            yield Answered(as_text(message.get("tool_call_id")), text, pointer, parts=parts)
            continue
        calls = as_list(message.get("tool_calls"))
        if text or not calls:
            yield Said(role, text, f"{pointer}/content", parts)
        for number, call in enumerate(calls):
            yield _call(as_object(call), f"{pointer}/tool_calls/{number}")


def _call(call: dict[str, Any], pointer: str) -> Asked:
    function = as_object(call.get("function"))
    arguments = function.get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return Asked(as_text(call.get("id")), as_text(function.get("name")), text, pointer)


def _image(part: dict[str, Any]) -> Shown | None:
    return at_url(as_text(as_object(part.get("image_url")).get("url"))) if part.get("type") == "image_url" else None


def _tools(tools: object) -> Iterator[Offered]:
    for place, entry in enumerate(as_list(tools)):
        function = as_object(as_object(entry).get("function"))
        yield Offered(
            as_text(function.get("name")),
            as_text(function.get("description")),
            function.get("parameters"),
            f"/tools/{place}/function",
            function.get("strict") is True,
        )
