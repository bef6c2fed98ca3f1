"""Turns: the provider-neutral form of a model's reply.

A turn is written once, and each wire encodes it as its own body or event stream. Values only: nothing here
knows a wire.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from typing import Any, Literal

from looptck.values.frozen import dataclass

Stop = Literal[
    "end",
    "calls",
    "length",
    "content_filter",
    "refusal",
    "stop_sequence",
    "pause",
    "compaction",
    "context_window",
    "unknown",
    "failed",
    "cancelled",
    "queued",
    "in_progress",
]
"""Why the model stopped: it was done, it wants tools run, it hit the token limit, the content filter cut it, it
declined, it wrote a stop sequence, the service paused the turn or asks for it back after compaction, the context
window is full, a word that no documentation knows; and the states of a response that is not over or came to nothing.
A wire knows some of them only (``Wire.stops``)."""

HostedKind = Literal["search", "mcp"]


@dataclass(frozen=True, slots=True)
class Text:
    """Text for the caller. ``phase`` is the label that some services put on it, such as ``commentary``."""

    text: str
    phase: str | None = None
    item: str | None = field(default=None, compare=False)
    """The id of the recorded item, on wires whose replies have items; None: an id is generated."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The text with which a model declines."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call as the model writes it.

    ``arguments`` is JSON text, kept as text because a model may write it badly; ``id`` is None until a script gives
    the call one. A ``custom`` call has free text in place of JSON.
    """

    tool: str
    arguments: str = "{}"
    id: str | None = None
    custom: bool = False
    item: str | None = field(default=None, compare=False)
    """The id of the recorded item, on wires whose replies have items; None: an id is generated."""

    @classmethod
    def of(cls, tool: str, arguments: Mapping[str, Any] | None = None, *, id: str | None = None) -> Call:
        """A call with well-formed arguments."""
        return cls(tool, json.dumps(arguments or {}, ensure_ascii=False), id)


@dataclass(frozen=True, slots=True)
class Thinking:
    """The model's thinking before its answer; ``redacted``: the service shows only its signature.

    A wire sends it with a signature that a loop has to return unchanged. Wires without thinking leave it out.
    """

    text: str
    redacted: bool = False
    id: str | None = None
    recorded_signature: str | None = None
    """The signature of recorded thinking; None: a signature is generated."""
    final_signature: str | None = None
    """The signature in the last event of a recorded stream; None: the same signature."""
    withheld: bool = False
    """Whether the service keeps the signature to itself."""

    @property
    def signature(self) -> str:
        """The signature or the encrypted content: opaque, and unique for each piece of thinking."""
        if self.recorded_signature is not None:
            return self.recorded_signature
        digest = hashlib.sha512(f"{self.id}\n{self.text}\n{self.redacted}".encode()).digest()
        return base64.b64encode(digest).decode()


@dataclass(frozen=True, slots=True)
class Hosted:
    """A hosted tool, which the service itself runs, with its result; ``done`` False: the result is not there yet.

    Wires without hosted tools omit it.
    """

    kind: HostedKind = "search"
    query: str = "weather in Paris"
    done: bool = True
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Unknown:
    """A piece of an undocumented kind. Wires whose replies have no pieces omit it."""

    id: str | None = None


@dataclass(frozen=True, slots=True)
class Served:
    """A piece that the service has made by itself, which a loop sends back as it was: a tool of its own, or its result.

    It has the form of the one wire that has such a piece.
    """

    json: str
    """The block or item, as JSON text."""
    id: str = ""
    """It has its own id."""

    @property
    def value(self) -> dict[str, Any]:
        """The block or item."""
        value: dict[str, Any] = json.loads(self.json)
        return value


Piece = Text | Refusal | Call | Thinking | Hosted | Unknown | Served


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens that a reply says it has used.

    ``cached`` is the part of the input that came from a cache, which Messages counts apart. ``reasoning`` is the part
    of the output that the model has thought, which only OpenAI's services tell.
    """

    input: int = 40
    output: int = 20
    cached: int = 0
    reasoning: int = 0


@dataclass(frozen=True, slots=True)
class Turn:
    """One reply of the model: pieces in order. A ``stop`` of None follows from the pieces."""

    pieces: tuple[Piece, ...] = ()
    stop: Stop | None = None
    container: str | None = None
    """The id of the container in which the service has run code, on wires that tell it."""
    usage: Usage | None = None
    """What its reply says of tokens, in a stream only where the request asks for it; None: the same in every reply."""
    conversation: str | None = None
    """The id of the conversation to which the service adds the turn, on wires that tell it."""

    @property
    def used(self) -> Usage:
        """The usage, with the default filled in."""
        return self.usage or Usage()

    @property
    def text(self) -> str | None:
        """All text of the turn; None if there is none."""
        texts = [piece.text for piece in self.pieces if isinstance(piece, Text)]
        return "".join(texts) if texts else None

    @property
    def refusal(self) -> str | None:
        """The text of the refusal; None if there is none."""
        return next((piece.text for piece in self.pieces if isinstance(piece, Refusal)), None)

    @property
    def calls(self) -> tuple[Call, ...]:
        """The tool calls."""
        return tuple(piece for piece in self.pieces if isinstance(piece, Call))

    @property
    def stopped(self) -> Stop:
        """The stop reason, with the default filled in."""
        if self.stop is not None:
            return self.stop
        return "calls" if any(isinstance(piece, Call) for piece in self.pieces) else "end"

    def numbered(self, n: int) -> Turn:
        """The same turn, as the ``n``-th of a script (from 1): calls without an id get ``call_1a``, ``call_1b``.

        Thinking, hosted tools and unknown pieces get similar ids, counted per kind.
        """
        if all(isinstance(piece, Text | Refusal) for piece in self.pieces):
            return self
        return replace(self, pieces=tuple(_numbered(self.pieces, n)))


def turn(*pieces: Piece | str, stop: Stop | None = None) -> Turn:
    """A turn of these pieces in this order; a string is text."""
    return Turn(tuple(Text(piece) if isinstance(piece, str) else piece for piece in pieces), stop)


def says(text: str | None, *, stop: Stop | None = None) -> Turn:
    """A turn of text alone."""
    return Turn(() if text is None else (Text(text),), stop)


def calls(*wanted: Call, text: str | None = None, stop: Stop | None = None) -> Turn:
    """A turn that asks for tools, with or without text before the calls."""
    return Turn((*says(text).pieces, *wanted), stop)


def refuses(text: str) -> Turn:
    """A turn in which the model declines to answer."""
    return Turn((Refusal(text),))


_PREFIXES = {Call: "call", Thinking: "thought", Hosted: "hosted", Unknown: "unknown"}


def _numbered(pieces: tuple[Piece, ...], n: int) -> Iterator[Piece]:
    counts = dict.fromkeys(_PREFIXES, 0)
    for piece in pieces:
        kind = type(piece)
        if isinstance(piece, Text | Refusal | Served):
            yield piece
            continue
        yield piece if piece.id is not None else replace(piece, id=f"{_PREFIXES[kind]}_{n}{_letters(counts[kind])}")
        counts[kind] += 1


def _letters(position: int) -> str:
    """a, b, … z, ba, bb, …: short, and distinct for any number of calls."""
    letters = ""
    while True:
        position, digit = divmod(position, 26)
        letters = chr(ord("a") + digit) + letters
        if not position:
            return letters
