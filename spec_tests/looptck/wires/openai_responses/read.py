"""Reads a Responses request into the provider-neutral history, leniently: the judge checks it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from looptck.values.history import Answered, Asked, Item, Offered, Opaque, Request, Said
from looptck.values.images import Shown, at_url
from looptck.values.lenient import as_list, as_object
from looptck.values.turns import Turn
from looptck.wires.openai_responses.conversations import id_of
from looptck.wires.openai_responses.encode import items
from looptck.wires.parts import parts_of

_NO_SIGNATURES: Mapping[str, str] = {}
_UNCOUNTED = frozenset({"type", "status", "x_unknown"})
"""Members that are not part of an item's content."""


def read(body: object, stored: Iterable[Item] = ()) -> Request:
    """The provider-neutral form of a request, without its input; unreadable parts are omitted.

    ``stored``: the history after the instructions: the stored items and the input.
    """
    fields = as_object(body)
    instructions = _text(fields.get("instructions"))
    said = [Said("system", instructions, "/instructions")] if instructions else []
    return Request(
        model=_text(fields.get("model")),
        stream=fields.get("stream") is True,
        items=(*said, *stored),
        tools=tuple(_tools(fields.get("tools"))),
        continues=_text(fields.get("previous_response_id")) or id_of(fields),
        refers=refers(fields.get("input")),
    )


def refers(given: object) -> bool:
    """Whether an item of this input is a reference to a stored one."""
    return isinstance(given, list) and any(
        isinstance(item, dict) and item.get("type") == "item_reference" for item in given
    )


def echo(turn: Turn) -> list[Item]:
    """A turn as the next request should carry it: its items in their order."""
    output = items(turn, 0)
    signatures = {item["encrypted_content"]: item["id"] for item in output if item["type"] == "reasoning"}
    return [item for entry in output for item in parse_item(entry, "", signatures)]


def parse_item(entry: object, pointer: str, signatures: Mapping[str, str] = _NO_SIGNATURES) -> Iterator[Item]:
    """The history items of an input item; an empty message of the model makes none.

    ``signatures``: the encrypted contents that the service has issued, each with the id of its thought. A thought is
    returned by either, and nothing else of it counts: the service does not look at its summary.
    """
    item = as_object(entry)
    kind = _text(item.get("type")) or "message"
    match kind:
        case "message":
            role, text = _text(item.get("role")), _text(item.get("content"))
            if text or role != "assistant":
                yield Said(role, text, pointer, parts_of(item.get("content"), _image))
        case "function_call" | "custom_tool_call":
            wanted = item.get("arguments" if kind == "function_call" else "input")
            arguments = wanted if isinstance(wanted, str) else json.dumps(wanted)
            yield Asked(_text(item.get("call_id")), _text(item.get("name")), arguments, pointer)
        case "function_call_output" | "custom_tool_call_output":
            parts = parts_of(item.get("output"), _image)
            yield Answered(_text(item.get("call_id")), _text(item.get("output")), pointer, parts=parts)
        case "reasoning":
            yield Opaque(kind, _thought(item, signatures), pointer)
        case _:
            yield Opaque(kind, _counted(item), pointer)


def _image(part: dict[str, Any]) -> Shown | None:
    if part.get("type") != "input_image":
        return None
    url, file = _text(part.get("image_url")), _text(part.get("file_id"))
    return at_url(url) if url else Shown(reference=file)


def _thought(item: dict[str, Any], signatures: Mapping[str, str]) -> dict[str, Any]:
    """The content of a reasoning item: its id, and its encrypted content if it was not issued under this id."""
    id, signature = item.get("id"), item.get("encrypted_content")
    issued = signatures.get(signature) if isinstance(signature, str) else None
    if issued is not None and id in (None, issued):
        return {"id": issued}
    return {"id": id} if signature is None else {"id": id, "encrypted_content": signature}


def _counted(item: dict[str, Any]) -> dict[str, Any]:
    """The content of an item, without null members, which some clients add."""
    return {name: value for name, value in _without_nulls(item).items() if name not in _UNCOUNTED}


def _without_nulls(value: Any) -> Any:
    """A value without the members that are null, however deep they are."""
    if isinstance(value, dict):
        return {name: _without_nulls(member) for name, member in value.items() if member is not None}
    return [_without_nulls(member) for member in value] if isinstance(value, list) else value


def _tools(tools: object, within: str = "") -> Iterator[Offered]:
    """The tools with a name: the others are the service's own. On this wire they are strict unless they say no.

    A namespace is no tool but holds some; a call names both the namespace and the tool.
    """
    for place, entry in enumerate(as_list(tools)):
        tool, pointer = as_object(entry), f"{within}/tools/{place}"
        if tool.get("type") == "namespace" and not within:
            yield from _tools(tool.get("tools"), pointer)
        elif name := _text(tool.get("name")):
            strict = tool.get("strict") is not False
            yield Offered(name, _text(tool.get("description")), tool.get("parameters"), pointer, strict)


def _text(value: object) -> str:
    """Text, or the joined texts and refusals of a list of parts; empty for anything else."""
    if isinstance(value, str):
        return value
    parts = (as_object(part) for part in as_list(value))
    texts = (part.get("text", part.get("refusal")) for part in parts)
    return "".join(text for text in texts if isinstance(text, str))
