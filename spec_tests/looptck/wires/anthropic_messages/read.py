"""Reads a Messages request into the provider-neutral history, leniently: the judge checks it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from looptck.values.framing import DEFAULT
from looptck.values.history import STORED, Answered, Asked, Item, Offered, Opaque, Request, Said
from looptck.values.images import Shown
from looptck.values.lenient import as_list, as_object, as_text
from looptck.values.turns import Call, Turn
from looptck.wires.anthropic_messages import encode
from looptck.wires.parts import parts_of

_ASIDE = ("type", "cache_control", "caller", "toolset_name")
"""Members of a block that are ignored, but for a caller that is code: the service accepts a block with or without."""

_arguments = json.JSONEncoder(ensure_ascii=False).encode
"""A call's input as JSON text."""


def read(body: object, kept: int = 0) -> Request:
    """The provider-neutral form of a request; unreadable parts are omitted.

    The first ``kept`` messages, with the system prompt and the tools, come from the service's stored thread.
    """
    fields = as_object(body)
    thread = as_object(fields.get("thread"))
    continues = thread.get("previous_message_id") if thread.get("type") == "continue" else None
    return Request(
        model=as_text(fields.get("model")),
        stream=fields.get("stream") is True,
        items=tuple(_items(fields, kept)),
        tools=tuple(_tools(fields.get("tools"))),
        continues=continues if isinstance(continues, str) else None,
    )


def echo(turn: Turn) -> list[Item]:
    """A turn as the next request should carry it: all non-empty blocks, in order."""
    items: list[Item] = []
    for piece in turn.pieces:
        if isinstance(piece, Call):
            items.append(Asked(piece.id or "", piece.tool, piece.arguments))
        else:
            blocks = encode.body(Turn((piece,), "end"), 0, DEFAULT)["content"]
            items += [item for block in blocks for item in _block("assistant", block, "")]
    return items


def _items(fields: dict[str, Any], kept: int) -> Iterator[Item]:
    stored = STORED if kept else ""
    if system := as_text(fields.get("system")):
        yield Said("system", system, f"{stored}/system")
    yield from items(as_list(fields.get("messages")), -kept)


def items(messages: list[Any], first: int = 0) -> Iterator[Item]:
    """The items of these messages; ``first``: the index of the first one, below zero in the service's stored thread."""
    kept = max(-first, 0)
    for place, entry in enumerate(messages, first):
        message = as_object(entry)
        role, content = as_text(message.get("role")), message.get("content")
        pointer = f"/messages/{place}/content" if place >= 0 else f"{STORED}/messages/{place + kept}/content"
        found = [
            item
            for number, block in enumerate(as_list(content))
            for item in _block(role, as_object(block), f"{pointer}/{number}")
        ]
        yield from found or [Said(role, as_text(content), pointer)]


def _block(role: str, block: dict[str, Any], pointer: str) -> Iterator[Item]:
    match block.get("type"):
        case "text":
            if text := as_text(block.get("text")):
                yield Said(role, text, pointer)
        case "tool_use":
            yield Asked(as_text(block.get("id")), as_text(block.get("name")), _arguments(block.get("input")), pointer)
        case "tool_result":
            failed = block.get("is_error") is True
            content = block.get("content")
            id, parts = as_text(block.get("tool_use_id")), parts_of(content, _image)
            yield Answered(id, as_text(content), pointer, failed, parts)
        case "image" if role == "user":
            yield Said(role, "", pointer, parts_of([block], _image))
        case kind:
            told = {name: block[name] for name in block if name not in _ASIDE or _is_code(name, block[name])}
            yield Opaque(as_text(kind), _counting(told), pointer)


def _image(block: dict[str, Any]) -> Shown | None:
    if block.get("type") != "image":
        return None
    source = as_object(block.get("source"))
    if source.get("type") == "base64":
        return Shown(as_text(source.get("media_type")), as_text(source.get("data")))
    return Shown(reference=as_text(source.get("url")) or as_text(source.get("file_id")))


def _is_code(name: str, value: Any) -> bool:
    """Whether a member names the code that has called: the service then refuses a block without it."""
    return name == "caller" and isinstance(value, dict) and value.get("type") != "direct"


def _counting(value: Any) -> Any:
    """A value without null members, which some clients omit, and without members that only looptck adds."""
    if isinstance(value, dict):
        return {
            name: _counting(member)
            for name, member in value.items()
            if member is not None and not name.startswith("x_")
        }
    return [_counting(member) for member in value] if isinstance(value, list) else value


def _tools(tools: object) -> Iterator[Offered]:
    """The tools without a type: the others are hosted by the service."""
    for place, entry in enumerate(as_list(tools)):
        tool = as_object(entry)
        if as_text(tool.get("type")) in {"", "custom"}:
            yield Offered(
                as_text(tool.get("name")),
                as_text(tool.get("description")),
                tool.get("input_schema"),
                f"/tools/{place}",
                tool.get("strict") is True,
            )
