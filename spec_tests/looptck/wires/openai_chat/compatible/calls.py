"""Quirks of calls: their ids, types, names, indexes and arguments, and what servers add to them."""

from __future__ import annotations

import json
from base64 import b64encode
from copy import deepcopy
from typing import Any

from looptck.values.framing import Quirk
from looptck.wires.openai_chat.compatible.changes import (
    Chunk,
    calls_in,
    deltas,
    in_body,
    in_stream,
    pieces,
    pieces_with_the_first,
)

_IDENTITY = ("id", "type")
_EMPTY = frozenset({"", "{}"})
"""The texts of arguments that are empty."""


def arguments_of(raw: str, quirk: Quirk | None) -> Any:
    """The arguments of a whole call: their text, an object, or null where they are empty."""
    if quirk == "arguments-object":
        return json.loads(raw or "{}")
    return None if quirk == "arguments-null" and raw in _EMPTY else raw


def extras(tool: str) -> Chunk:
    """What a call of a tool has with the quirk ``call-extras``: Gemini's signature of its thoughts.

    A signature is bytes in base64, and a loop may keep the bytes. This one has the characters that are no
    letters too: plus, slash and, where the length asks for it, padding.
    """
    signature = b64encode(b"\xfb\xef\xbe\xff\xff\xff" + tool.encode()).decode()
    return {"extra_content": {"google": {"thought_signature": signature}}}


@in_stream("no-arguments")
def _no_arguments(chunks: list[Chunk]) -> list[Chunk]:
    for _, piece in pieces(chunks):
        _without_empty_arguments(piece)
    return chunks


@in_body("no-arguments")
def _no_arguments_in_body(body: Chunk) -> Chunk:
    for call in calls_in(body):
        _without_empty_arguments(call)
    return body


def _without_empty_arguments(call: Chunk) -> None:
    if call["function"]["arguments"] in _EMPTY:
        del call["function"]["arguments"]


@in_stream("null-call-members")
def _null_call_members(chunks: list[Chunk]) -> list[Chunk]:
    for is_first, piece in pieces(chunks):
        if is_first and "function" in piece:
            piece["function"]["arguments"] = piece["function"]["arguments"] or None
        elif not is_first:
            piece.update({"id": None, "type": None})
            piece["function"]["name"] = None
    return chunks


@in_stream("null-call-type")
def _null_call_type(chunks: list[Chunk]) -> list[Chunk]:
    for is_first, piece in pieces(chunks):
        if is_first and "type" in piece:
            piece["type"] = None
    return chunks


@in_stream("no-call-type")
def _no_call_type(chunks: list[Chunk]) -> list[Chunk]:
    for is_first, piece in pieces(chunks):
        if is_first:
            piece.pop("type", None)
    return chunks


@in_stream("blank-call-type")
def _blank_call_type(chunks: list[Chunk]) -> list[Chunk]:
    for is_first, piece in pieces(chunks):
        if not is_first:
            piece["type"] = ""
    return chunks


@in_body("no-call-type")
def _no_call_type_in_body(body: Chunk) -> Chunk:
    for call in calls_in(body):
        call.pop("type", None)
    return body


@in_stream("calls-empty-beside-text")
def _calls_empty_beside_text(chunks: list[Chunk]) -> list[Chunk]:
    for delta in deltas(chunks):
        if delta.get("content"):
            delta["tool_calls"] = []
    return chunks


@in_stream("blank-call-members")
def _blank_call_members(chunks: list[Chunk]) -> list[Chunk]:
    for is_first, piece in pieces(chunks):
        if not is_first:
            piece.update({"id": "", "type": "function"})
            piece["function"]["name"] = ""
    return chunks


@in_stream("blank-ids")
def _blank_ids(chunks: list[Chunk]) -> list[Chunk]:
    for is_first, piece in pieces(chunks):
        if is_first:
            piece["id"] = ""
    return chunks


@in_body("blank-ids")
def _blank_ids_in_body(body: Chunk) -> Chunk:
    for call in calls_in(body):
        call["id"] = ""
    return body


@in_stream("name-late")
def _name_late(chunks: list[Chunk]) -> list[Chunk]:
    """The name comes with the second piece of its call; a call of one piece keeps it."""
    left: dict[Any, Chunk] = {}
    for is_first, piece in pieces(chunks):
        if is_first:
            left[piece.get("index")] = piece["function"]
        elif (first := left.pop(piece.get("index"), None)) is not None:
            piece["function"]["name"] = first.pop("name")
    return chunks


@in_stream("names-repeated")
def _names_repeated(chunks: list[Chunk]) -> list[Chunk]:
    for first, piece in pieces_with_the_first(chunks):
        piece.update({member: first[member] for member in _IDENTITY})
        piece["function"]["name"] = first["function"]["name"]
    return chunks


@in_stream("blank-call-last")
def _blank_call_last(chunks: list[Chunk]) -> list[Chunk]:
    return _with_a_blank_call(chunks, apart=False)


@in_stream("blank-call-apart")
def _blank_call_apart(chunks: list[Chunk]) -> list[Chunk]:
    return _with_a_blank_call(chunks, apart=True)


def _with_a_blank_call(chunks: list[Chunk], *, apart: bool) -> list[Chunk]:
    """A piece without id, name and arguments comes behind the pieces of the calls, under the index of the first.

    ``apart``: it has an index of its own.
    """
    places = [at for at, chunk in enumerate(chunks) if any(pieces([chunk]))]
    if not places:
        return chunks
    last = deepcopy(chunks[places[-1]])
    index = 1 + max(piece["index"] for _, piece in pieces(chunks)) if apart else 0
    blank = {"index": index, "id": "", "type": "function", "function": {"arguments": None}}
    last["choices"][0]["delta"] = {"tool_calls": [blank]}
    return [*chunks[: places[-1] + 1], last, *chunks[places[-1] + 1 :]]


@in_stream("pieces-in-pairs")
def _pieces_in_pairs(chunks: list[Chunk]) -> list[Chunk]:
    """Each chunk with a piece of a call has the piece after it too, so a call has two pieces in one delta."""
    paired: list[Chunk] = []
    waits: Chunk | None = None
    for chunk in chunks:
        if not any(pieces([chunk])):
            waits = None
        elif waits is None:
            waits = chunk
        else:
            waits["choices"][0]["delta"]["tool_calls"] += chunk["choices"][0]["delta"]["tool_calls"]
            waits = None
            continue
        paired.append(chunk)
    return paired


@in_stream("object-before-arguments")
def _object_before_arguments(chunks: list[Chunk]) -> list[Chunk]:
    """The first piece of a call has an empty object for arguments; those that follow say what they are."""
    for is_first, piece in pieces(chunks):
        if is_first:
            piece["function"]["arguments"] = "{}"
    return chunks


@in_stream("no-index")
def _no_index(chunks: list[Chunk]) -> list[Chunk]:
    """The calls have no index, unless only the index tells them apart."""
    all_of_them = list(pieces(chunks))
    order = [piece["index"] for _, piece in all_of_them]
    ids = [piece["id"] for is_first, piece in all_of_them if is_first]
    if order == sorted(order) and len({*ids}) == len(ids):
        for _, piece in all_of_them:
            del piece["index"]
    return chunks


@in_stream("call-extras")
def _call_extras(chunks: list[Chunk]) -> list[Chunk]:
    for is_first, piece in pieces(chunks):
        if is_first and "function" in piece:
            piece.update(extras(piece["function"]["name"]))
    return chunks


@in_body("call-extras")
def _call_extras_in_body(body: Chunk) -> Chunk:
    for call in calls_in(body):
        if "function" in call:
            call.update(extras(call["function"]["name"]))
    return body
