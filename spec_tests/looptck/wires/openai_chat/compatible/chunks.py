"""Quirks of what is around a message: choices, finish reasons, events and the model."""

from __future__ import annotations

from typing import Any

from looptck.values.framing import DATED
from looptck.wires.openai_chat.compatible.changes import Chunk, choices_in, in_body, in_both, in_stream

UNKNOWN_FINISH = "eos"
"""A finish reason of some servers that none of the documented ones is."""


@in_stream("null-delta")
def _null_delta(chunks: list[Chunk]) -> list[Chunk]:
    for choice in choices_in(chunks):
        choice["delta"] = choice["delta"] or None
    return chunks


@in_stream("null-choices")
def _null_choices(chunks: list[Chunk]) -> list[Chunk]:
    for chunk in chunks:
        chunk["choices"] = chunk["choices"] or None
    return chunks


@in_both("no-choices")
def _no_choices(reply: Chunk) -> Chunk:
    return {**reply, "choices": []}


@in_both("choices-null")
def _choices_null(reply: Chunk) -> Chunk:
    return {**reply, "choices": None}


@in_stream("null-events")
def _null_events(chunks: list[Chunk]) -> list[Any]:
    """An event that is null after each of the others."""
    return [event for chunk in chunks for event in (chunk, None)]


@in_stream("blank-finish")
def _blank_finish(chunks: list[Chunk]) -> list[Chunk]:
    for choice in choices_in(chunks):
        choice["finish_reason"] = choice["finish_reason"] or ""
    return chunks


@in_stream("finish-unknown")
def _finish_unknown(chunks: list[Chunk]) -> list[Chunk]:
    for choice in choices_in(chunks):
        choice["finish_reason"] = choice["finish_reason"] and UNKNOWN_FINISH
    return chunks


@in_body("finish-unknown")
def _finish_unknown_in_body(body: Chunk) -> Chunk:
    body["choices"][0]["finish_reason"] = UNKNOWN_FINISH
    return body


@in_stream("finish-beside")
def _finish_beside(chunks: list[Chunk]) -> list[Chunk]:
    """The last delta comes in the chunk with the finish reason."""
    at = next(at for at, chunk in enumerate(chunks) if any(one["finish_reason"] for one in chunk.get("choices") or ()))
    chunks[at]["choices"][0]["delta"] = chunks[at - 1]["choices"][0]["delta"]
    return [*chunks[: at - 1], *chunks[at:]]


@in_stream("finish-then-null")
def _finish_then_null(chunks: list[Chunk]) -> list[Chunk]:
    """A chunk about what a filter has found comes after the one with the finish reason, and has none itself."""
    at = next(at for at, chunk in enumerate(chunks) if any(one["finish_reason"] for one in chunk.get("choices") or ()))
    found: Chunk = {"index": 0, "finish_reason": None, "delta": {}, "logprobs": None, "content_filter_results": {}}
    return [*chunks[: at + 1], {**chunks[at], "choices": [found]}, *chunks[at + 1 :]]


@in_both("model-dated")
def _model_dated(reply: Chunk) -> Chunk:
    return {**reply, "model": DATED}
