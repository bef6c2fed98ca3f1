"""Changes to replies: one for each quirk, found by its name, and the pieces of a stream that they change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

from looptck.values.framing import Quirk

Chunk = dict[str, Any]
StreamChange = Callable[[list[Chunk]], list[Any]]
"""Makes the chunks of a stream, which it may change, those of a server with the quirk."""
BodyChange = Callable[[Chunk], Chunk]
"""Makes a plain reply, which it may change, that of a server with the quirk."""

STREAM: dict[Quirk, StreamChange] = {}
"""The quirks of streams."""
BODY: dict[Quirk, BodyChange] = {}
"""The quirks of plain replies."""


def in_stream(quirk: Quirk) -> Callable[[StreamChange], StreamChange]:
    """The function is this quirk of streams."""

    def named(change: StreamChange) -> StreamChange:
        STREAM[quirk] = change
        return change

    return named


def in_body(quirk: Quirk) -> Callable[[BodyChange], BodyChange]:
    """The function is this quirk of plain replies."""

    def named(change: BodyChange) -> BodyChange:
        BODY[quirk] = change
        return change

    return named


def in_both(quirk: Quirk) -> Callable[[BodyChange], BodyChange]:
    """The function is this quirk of plain replies and of each chunk of a stream."""

    def named(change: BodyChange) -> BodyChange:
        STREAM[quirk] = lambda chunks: [change(chunk) for chunk in chunks]
        return in_body(quirk)(change)

    return named


def choices_in(chunks: list[Chunk]) -> Iterator[Chunk]:
    """The choices of all chunks."""
    for chunk in chunks:
        yield from chunk.get("choices") or ()


def deltas(chunks: list[Chunk]) -> Iterator[Chunk]:
    """The deltas of all chunks."""
    return (choice["delta"] for choice in choices_in(chunks) if choice["delta"] is not None)


def pieces(chunks: list[Chunk]) -> Iterator[tuple[bool, Chunk]]:
    """The pieces of calls; whether each is the first of its call, the one with the id."""
    for delta in deltas(chunks):
        for piece in delta.get("tool_calls") or ():
            yield bool(piece.get("id")), piece


def pieces_with_the_first(chunks: list[Chunk]) -> Iterator[tuple[Chunk, Chunk]]:
    """Each piece of a call that is not the first, with the first piece of its call."""
    begun: dict[Any, Chunk] = {}
    for is_first, piece in pieces(chunks):
        if is_first:
            begun[piece.get("index")] = deepcopy(piece)
        elif piece.get("index") in begun:
            yield begun[piece.get("index")], piece


def message_in(body: Chunk) -> Chunk:
    """The message of a plain reply."""
    message: Chunk = body["choices"][0]["message"]
    return message


def calls_in(body: Chunk) -> list[Chunk]:
    """The calls of a plain reply."""
    return message_in(body).get("tool_calls") or []
