"""What servers write that are compatible with Chat Completions and are not it: quirks of replies, plain or streamed.

Each quirk is one change to the reply of the service itself. The requirement that plays it names the servers.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

from looptck.values.framing import DATED, Quirk

Chunk = dict[str, Any]
Change = Callable[[list[Chunk]], list[Any]]

_IDENTITY = ("id", "type")
_TOTALS = ("prompt_tokens", "completion_tokens", "total_tokens")
_MEMBERS: Chunk = {"role": None, "content": None, "refusal": None, "function_call": None, "tool_calls": None}
"""The documented members of a delta."""


def changed_stream(quirk: Quirk | None, events: list[object]) -> list[object]:
    """The events of a stream as a server with this quirk sends them; any other quirk changes nothing."""
    change = STREAM.get(quirk) if quirk else None
    if change is None:
        return events
    chunks = [event for event in deepcopy(events) if isinstance(event, dict)]
    return [*change(chunks), *(event for event in events if not isinstance(event, dict))]


def changed_body(quirk: Quirk | None, body: Chunk) -> Chunk:
    """The plain reply as a server with this quirk sends it; any other quirk changes nothing."""
    change = BODY.get(quirk) if quirk else None
    return body if change is None else change(deepcopy(body))


# -- pieces of a stream -----------------------------------------------------------------------------------------------


def _choices(chunks: list[Chunk]) -> Iterator[Chunk]:
    for chunk in chunks:
        yield from chunk.get("choices") or ()


def _deltas(chunks: list[Chunk]) -> Iterator[Chunk]:
    return (choice["delta"] for choice in _choices(chunks) if choice["delta"] is not None)


def _pieces(chunks: list[Chunk]) -> Iterator[tuple[bool, Chunk]]:
    """The pieces of calls; whether each is the first of its call, the one with the id."""
    for delta in _deltas(chunks):
        for piece in delta.get("tool_calls") or ():
            yield bool(piece.get("id")), piece


def _first_pieces(chunks: list[Chunk]) -> Iterator[tuple[Chunk, Chunk]]:
    """Each piece of a call that is not the first, with the first piece of its call."""
    begun: dict[Any, Chunk] = {}
    for is_first, piece in _pieces(chunks):
        if is_first:
            begun[piece.get("index")] = deepcopy(piece)
        elif piece.get("index") in begun:
            yield begun[piece.get("index")], piece


# -- changes to a stream ----------------------------------------------------------------------------------------------


def _null_members(chunks: list[Chunk]) -> list[Chunk]:
    for delta in _deltas(chunks):
        delta.update({**_MEMBERS, **delta})
    return chunks


def _null_call_members(chunks: list[Chunk]) -> list[Chunk]:
    for is_first, piece in _pieces(chunks):
        if is_first and "function" in piece:
            piece["function"]["arguments"] = piece["function"]["arguments"] or None
        elif not is_first:
            piece.update({"id": None, "type": None})
            piece["function"]["name"] = None
    return chunks


def _call_type(type: dict[str, None]) -> Change:
    """The first piece of a call has this in place of its type: null, or nothing."""

    def changed(chunks: list[Chunk]) -> list[Chunk]:
        for is_first, piece in _pieces(chunks):
            if is_first and piece.pop("type", None) is not None:
                piece.update(type)
        return chunks

    return changed


def _null_delta(chunks: list[Chunk]) -> list[Chunk]:
    for choice in _choices(chunks):
        choice["delta"] = choice["delta"] or None
    return chunks


def _null_choices(chunks: list[Chunk]) -> list[Chunk]:
    for chunk in chunks:
        chunk["choices"] = chunk["choices"] or None
    return chunks


def _null_events(chunks: list[Chunk]) -> list[Any]:
    """An event that is null after each of the others."""
    return [event for chunk in chunks for event in (chunk, None)]


def _calls_empty_beside_text(chunks: list[Chunk]) -> list[Chunk]:
    for delta in _deltas(chunks):
        if delta.get("content"):
            delta["tool_calls"] = []
    return chunks


def _blank_call_members(chunks: list[Chunk]) -> list[Chunk]:
    for is_first, piece in _pieces(chunks):
        if not is_first:
            piece.update({"id": "", "type": "function"})
            piece["function"]["name"] = ""
    return chunks


def _blank_finish(chunks: list[Chunk]) -> list[Chunk]:
    for choice in _choices(chunks):
        choice["finish_reason"] = choice["finish_reason"] or ""
    return chunks


def _finish_unknown(chunks: list[Chunk]) -> list[Chunk]:
    for choice in _choices(chunks):
        choice["finish_reason"] = choice["finish_reason"] and UNKNOWN_FINISH
    return chunks


def _role_repeated(chunks: list[Chunk]) -> list[Chunk]:
    for delta in _deltas(chunks):
        delta["role"] = "assistant"
    return chunks


def _no_role(chunks: list[Chunk]) -> list[Chunk]:
    for delta in _deltas(chunks):
        delta.pop("role", None)
    return chunks


def _name_late(chunks: list[Chunk]) -> list[Chunk]:
    """The name comes with the second piece of its call; a call of one piece keeps it."""
    left: dict[Any, Chunk] = {}
    for is_first, piece in _pieces(chunks):
        if is_first:
            left[piece.get("index")] = piece["function"]
        elif (first := left.pop(piece.get("index"), None)) is not None:
            piece["function"]["name"] = first.pop("name")
    return chunks


def _names_repeated(chunks: list[Chunk]) -> list[Chunk]:
    for first, piece in _first_pieces(chunks):
        piece.update({member: first[member] for member in _IDENTITY})
        piece["function"]["name"] = first["function"]["name"]
    return chunks


def _blank_call(*, apart: bool) -> Change:
    """A piece without id, name and arguments comes behind the pieces of the calls, under the index of the first.

    ``apart``: it has an index of its own.
    """

    def changed(chunks: list[Chunk]) -> list[Chunk]:
        places = [at for at, chunk in enumerate(chunks) if any(_pieces([chunk]))]
        if not places:
            return chunks
        last = deepcopy(chunks[places[-1]])
        index = 1 + max(piece["index"] for _, piece in _pieces(chunks)) if apart else 0
        blank = {"index": index, "id": "", "type": "function", "function": {"arguments": None}}
        last["choices"][0]["delta"] = {"tool_calls": [blank]}
        return [*chunks[: places[-1] + 1], last, *chunks[places[-1] + 1 :]]

    return changed


def _text_beside_a_call(chunks: list[Chunk]) -> list[Chunk]:
    """The last piece of the text comes in one delta with the first piece of the first call."""
    at = next((at for at, chunk in enumerate(chunks) if any(_pieces([chunk]))), 0)
    text = chunks[at - 1]["choices"][0]["delta"].get("content") if at else None
    if not text:
        return chunks
    chunks[at]["choices"][0]["delta"]["content"] = text
    return [*chunks[: at - 1], *chunks[at:]]


def _content_beside_calls(chunks: list[Chunk]) -> list[Chunk]:
    for delta in _deltas(chunks):
        if "tool_calls" in delta:
            delta["content"] = ""
    return chunks


def _refusal_beside_empty_text(chunks: list[Chunk]) -> list[Chunk]:
    for delta in _deltas(chunks):
        if delta.get("refusal"):
            delta["content"] = ""
    return chunks


def _object_before_arguments(chunks: list[Chunk]) -> list[Chunk]:
    """The first piece of a call has an empty object for arguments; those that follow say what they are."""
    for is_first, piece in _pieces(chunks):
        if is_first:
            piece["function"]["arguments"] = "{}"
    return chunks


def _finish_beside(chunks: list[Chunk]) -> list[Chunk]:
    """The last delta comes in the chunk with the finish reason."""
    at = next(at for at, chunk in enumerate(chunks) if any(one["finish_reason"] for one in chunk.get("choices") or ()))
    chunks[at]["choices"][0]["delta"] = chunks[at - 1]["choices"][0]["delta"]
    return [*chunks[: at - 1], *chunks[at:]]


def _finish_then_null(chunks: list[Chunk]) -> list[Chunk]:
    """A chunk about what a filter has found comes after the one with the finish reason, and has none itself."""
    at = next(at for at, chunk in enumerate(chunks) if any(one["finish_reason"] for one in chunk.get("choices") or ()))
    found: Chunk = {"index": 0, "finish_reason": None, "delta": {}, "logprobs": None, "content_filter_results": {}}
    return [*chunks[: at + 1], {**chunks[at], "choices": [found]}, *chunks[at + 1 :]]


REASONING = "Let me see. First of all I have to look that up."
"""The reasoning of a turn with the quirk ``reasoning-content`` or ``reasoning-beside``."""
UNKNOWN_FINISH = "eos"
"""A finish reason of some servers that none of the documented ones is."""
_REASONED = ("Let me see. ", "First of all I have to look that up.")


def extras(tool: str) -> Chunk:
    """What a call of a tool has with the quirk ``call-extras``: Gemini's signature of its thoughts.

    A signature is bytes in base64, and a loop may keep the bytes. This one has the characters that are no
    letters too: plus, slash and, where the length asks for it, padding.
    """
    signature = b64encode(b"\xfb\xef\xbe\xff\xff\xff" + tool.encode()).decode()
    return {"extra_content": {"google": {"thought_signature": signature}}}


def _reasoning(chunks: list[Chunk]) -> list[Chunk]:
    """The reasoning comes in deltas of its own, before everything but the role."""
    first, *others = chunks
    thoughts = []
    for piece in _REASONED:
        thought = deepcopy(first)
        thought["choices"][0]["delta"] = {"content": None, "reasoning_content": piece}
        thoughts.append(thought)
    return [first, *thoughts, *others]


def _reasoning_beside(chunks: list[Chunk]) -> list[Chunk]:
    """The last piece of the reasoning comes in one delta with the first piece of the text, or of a call."""
    first, thought, last, *others = _reasoning(chunks)
    reasoning = last["choices"][0]["delta"]["reasoning_content"]
    for delta in _deltas(others):
        if delta.get("content") or delta.get("tool_calls"):
            delta["reasoning_content"] = reasoning
            return [first, thought, *others]
    return [first, thought, last, *others]


def _no_index(chunks: list[Chunk]) -> list[Chunk]:
    """The calls have no index, unless only the index tells them apart."""
    pieces = list(_pieces(chunks))
    order = [piece["index"] for _, piece in pieces]
    ids = [piece["id"] for is_first, piece in pieces if is_first]
    if order == sorted(order) and len({*ids}) == len(ids):
        for _, piece in pieces:
            del piece["index"]
    return chunks


def _call_extras(chunks: list[Chunk]) -> list[Chunk]:
    for is_first, piece in _pieces(chunks):
        if is_first and "function" in piece:
            piece.update(extras(piece["function"]["name"]))
    return chunks


def _model_dated(chunks: list[Chunk]) -> list[Chunk]:
    return [_model_dated_in_body(chunk) for chunk in chunks]


def _usage(change: Callable[[Chunk], Chunk | None]) -> Change:
    """Another usage in the chunk that has it."""

    def changed(chunks: list[Chunk]) -> list[Chunk]:
        for chunk in chunks:
            if chunk.get("usage"):
                chunk["usage"] = change(chunk["usage"])
        return chunks

    return changed


def _usage_beside_finish(chunks: list[Chunk]) -> list[Chunk]:
    """The usage comes in the chunk with the finish reason, and no chunk after it."""
    *others, last = chunks
    if last.get("usage"):
        others[-1]["usage"] = last["usage"]
        return others
    return chunks


def _usage_then_none(chunks: list[Chunk]) -> list[Chunk]:
    """The usage comes in the chunk with the finish reason; the one after it has none."""
    before = len(chunks)
    changed = _usage_beside_finish(chunks)
    return changed if len(changed) == before else [*changed, {**chunks[-1], "usage": None}]


def _usage_in_every_chunk(chunks: list[Chunk]) -> list[Chunk]:
    """Each chunk has the usage so far: all of the input, and more and more of the output."""
    *others, last = chunks
    usage: Chunk = last.get("usage") or {}
    for place, chunk in enumerate(others if usage else ()):
        output = usage["completion_tokens"] * place // len(others)
        chunk["usage"] = {**usage, "completion_tokens": output, "total_tokens": usage["prompt_tokens"] + output}
    return chunks


# -- changes to a plain reply -----------------------------------------------------------------------------------------


def _body_usage(change: Callable[[Chunk], Chunk | None]) -> Callable[[Chunk], Chunk]:
    def changed(body: Chunk) -> Chunk:
        body["usage"] = change(body["usage"])
        return body

    return changed


def _model_dated_in_body(body: Chunk) -> Chunk:
    return {**body, "model": DATED}


def _no_usage(body: Chunk) -> Chunk:
    del body["usage"]
    return body


def _content_in_body(body: Chunk) -> Chunk:
    message = body["choices"][0]["message"]
    if message.get("tool_calls"):
        message["content"] = message["content"] or ""
    return body


def _refusal_beside_empty_text_in_body(body: Chunk) -> Chunk:
    message = body["choices"][0]["message"]
    if message["refusal"]:
        message["content"] = message["content"] or ""
    return body


def _no_content(body: Chunk) -> Chunk:
    """A message without a member for its content, where it has none."""
    message = body["choices"][0]["message"]
    if message["content"] is None:
        del message["content"]
    return body


def _reasoning_in_body(body: Chunk) -> Chunk:
    body["choices"][0]["message"]["reasoning_content"] = REASONING
    return body


def _call_extras_in_body(body: Chunk) -> Chunk:
    for call in body["choices"][0]["message"].get("tool_calls") or ():
        if "function" in call:
            call.update(extras(call["function"]["name"]))
    return body


def _no_call_type_in_body(body: Chunk) -> Chunk:
    for call in body["choices"][0]["message"].get("tool_calls") or ():
        call.pop("type", None)
    return body


def _finish_unknown_in_body(body: Chunk) -> Chunk:
    body["choices"][0]["finish_reason"] = UNKNOWN_FINISH
    return body


def _choices_of(choices: list[Any] | None) -> Callable[[Chunk], Chunk]:
    return lambda body: {**body, "choices": choices}


def _choices_of_each(choices: list[Any] | None) -> Change:
    return lambda chunks: [{**chunk, "choices": choices} for chunk in chunks]


def _blank_ids(body: Chunk) -> Chunk:
    for call in body["choices"][0]["message"].get("tool_calls") or ():
        call["id"] = ""
    return body


def _blank_stream_ids(chunks: list[Chunk]) -> list[Chunk]:
    for is_first, piece in _pieces(chunks):
        if is_first:
            piece["id"] = ""
    return chunks


def _nothing(usage: Chunk) -> None:
    """No usage at all."""


def _totals(usage: Chunk) -> Chunk:
    return {name: usage[name] for name in _TOTALS}


def _null_details(usage: Chunk) -> Chunk:
    return {name: None if isinstance(value, dict) else value for name, value in usage.items()}


def arguments_of(raw: str, quirk: Quirk | None) -> Any:
    """The arguments of a whole call: their text, an object, or null where they are empty."""
    if quirk == "arguments-object":
        return json.loads(raw or "{}")
    return None if quirk == "arguments-null" and raw in _EMPTY else raw


_EMPTY = frozenset({"", "{}"})
"""The texts of arguments that are empty."""

STREAM: dict[Quirk, Change] = {
    "null-members": _null_members,
    "null-call-members": _null_call_members,
    "null-call-type": _call_type({"type": None}),
    "no-call-type": _call_type({}),
    "null-delta": _null_delta,
    "null-choices": _null_choices,
    "null-events": _null_events,
    "calls-empty-beside-text": _calls_empty_beside_text,
    "blank-call-members": _blank_call_members,
    "blank-finish": _blank_finish,
    "blank-ids": _blank_stream_ids,
    "role-repeated": _role_repeated,
    "no-role": _no_role,
    "name-late": _name_late,
    "names-repeated": _names_repeated,
    "blank-call-last": _blank_call(apart=False),
    "blank-call-apart": _blank_call(apart=True),
    "text-beside-a-call": _text_beside_a_call,
    "content-beside-calls": _content_beside_calls,
    "refusal-beside-empty-text": _refusal_beside_empty_text,
    "object-before-arguments": _object_before_arguments,
    "finish-beside": _finish_beside,
    "finish-unknown": _finish_unknown,
    "finish-then-null": _finish_then_null,
    "reasoning-content": _reasoning,
    "reasoning-beside": _reasoning_beside,
    "call-extras": _call_extras,
    "no-index": _no_index,
    "no-choices": _choices_of_each([]),
    "choices-null": _choices_of_each(None),
    "usage-null": _usage(_nothing),
    "usage-totals": _usage(_totals),
    "usage-details-null": _usage(_null_details),
    "usage-beside-finish": _usage_beside_finish,
    "usage-then-none": _usage_then_none,
    "usage-in-every-chunk": _usage_in_every_chunk,
    "model-dated": _model_dated,
}
"""The quirks of streams."""
BODY: dict[Quirk, Callable[[Chunk], Chunk]] = {
    "blank-ids": _blank_ids,
    "content-beside-calls": _content_in_body,
    "refusal-beside-empty-text": _refusal_beside_empty_text_in_body,
    "no-content": _no_content,
    "no-usage": _no_usage,
    "no-call-type": _no_call_type_in_body,
    "finish-unknown": _finish_unknown_in_body,
    "reasoning-content": _reasoning_in_body,
    "call-extras": _call_extras_in_body,
    "no-choices": _choices_of([]),
    "choices-null": _choices_of(None),
    "usage-null": _body_usage(_nothing),
    "usage-totals": _body_usage(_totals),
    "usage-details-null": _body_usage(_null_details),
    "model-dated": _model_dated_in_body,
}
"""The quirks of plain replies."""
