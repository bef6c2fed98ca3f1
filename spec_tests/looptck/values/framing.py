"""Framing: the way one turn is cut into events, lines and bytes.

A reader of the wire must decode the same turn from every framing. Framing has two halves. The *event layout* defines
how a turn is cut into events; each wire applies it. The *SSE encoding* defines how events become lines and bytes; it
is the same for every wire, and is implemented here.

The encoding follows the event-stream format of the WHATWG HTML standard, section 9.2.5 to 9.2.6: lines end in LF, CR or
CRLF, a line that starts with a colon is a comment, one space after a field's colon is dropped, several ``data`` lines
are joined with LF, one leading byte order mark is dropped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from functools import cache
from itertools import islice, pairwise
from typing import Any, Literal

from looptck.values.frozen import dataclass
from looptck.values.jsontext import compact

Quirk = Literal[
    # Chat Completions
    "ids-repeated",
    "one-index",
    "no-index",
    "index-from-one",
    "name-in-pieces",
    "finish-repeated",
    "arguments-object",
    "arguments-null",
    "no-arguments",
    "calls-null",
    "calls-empty",
    "null-members",
    "null-call-members",
    "null-call-type",
    "no-call-type",
    "blank-call-type",
    "null-delta",
    "null-choices",
    "null-events",
    "calls-empty-beside-text",
    "blank-call-members",
    "blank-finish",
    "blank-ids",
    "role-repeated",
    "no-role",
    "name-late",
    "names-repeated",
    "blank-call-last",
    "blank-call-apart",
    "pieces-in-pairs",
    "text-beside-a-call",
    "content-beside-calls",
    "no-content",
    "object-before-arguments",
    "reasoning-content",
    "reasoning-beside",
    "reasoning-details",
    "call-extras",
    "no-choices",
    "choices-null",
    "finish-beside",
    "finish-unknown",
    "finish-then-null",
    "usage-totals",
    "usage-details-null",
    "usage-beside-finish",
    "usage-then-none",
    "usage-in-every-chunk",
    "refusal-beside-empty-text",
    # Messages
    "input-at-start",
    "no-input-at-start",
    "text-at-start",
    "block-not-stopped",
    "indices-with-gaps",
    "start-repeated",
    "stop-repeated",
    "counts-null",
    "counts-missing",
    "counts-grow",
    # Responses
    "no-deltas",
    "no-arguments-done",
    "no-item-done",
    "final-output-empty",
    "early-id-differs",
    "item-ids-differ",
    "no-sequence",
    "error-unnamed",
    "event-behind-the-end",
    # Chat Completions and Responses
    "no-usage",
    "usage-null",
    # Messages and Responses
    "unnamed-events",
    "end-marker",
    # all
    "model-dated",
]
"""Event layouts of some compatible servers that the wire's own service does not use."""


MODEL = "looptck-model"
"""The model that requests ask for, and that replies name."""
DATED = f"{MODEL}-2026-01-31"
"""The model that replies name where the name that was asked for is an alias."""


@dataclass(frozen=True, slots=True)
class Framing:
    """How a turn becomes a stream. The default is the layout of the service itself, in one write.

    Each wire applies the layout fields that it has (``Wire.layouts``); the encoding applies to every wire.
    """

    fragment: int = 12
    """Characters of text or arguments per delta; 0: all in one delta."""
    interleaved: bool = False
    """Fragments of several calls are interleaved."""
    one_delta: bool = False
    """All calls, complete, in a single delta."""
    calls_first: bool = False
    """Text after the calls of its turn, on wires whose deltas may come in any order."""
    empty_deltas: bool = False
    """An empty delta after every event."""
    usage: bool | None = None
    """A last chunk with usage and no choices; None: if the request asks for it, as at the service itself."""
    opening: bool = False
    """A first chunk without choices, as content-filtering proxies send."""
    unknown_fields: bool = False
    """Fields that no documentation names, in every event."""
    unknown_events: bool = False
    """Events of a type that no documentation names, between the others."""
    pings: bool = False
    """A ping at every place where one is allowed, the first included."""
    split_end: bool = False
    """The event with the finish reason is split in two: usage first, then the reason."""
    no_empty_arguments: bool = False
    """No delta for empty arguments."""
    done: bool = True
    """The wire's end marker."""
    quirk: Quirk | None = None

    newline: Literal["\n", "\r\n", "\r"] = "\n"
    comments: bool = False
    """A comment line before every event, and one at the end."""
    space: bool = True
    """A space after ``data:``."""
    data_lines: bool = False
    """The JSON of each event spread over several ``data:`` lines."""
    mark: bool = False
    """A byte order mark at the very start."""
    escaped: bool = False
    """Characters beyond ASCII written as escapes instead of UTF-8."""
    event_names: bool = False
    """The fields ``id`` and ``retry`` in each event, and ``event: message`` on wires without event names."""
    padded: bool = False
    """Spaces before the brace that closes the JSON of an event."""
    cuts: tuple[int, ...] = ()
    """Byte offsets at which a write ends."""
    every: int = 0
    """Write this many bytes at a time; 0: writes end only at the cuts."""
    torn: bool = False
    """Writes end inside characters, escapes, line ends and a field's name too, at a few places of each kind; the next
    write waits until the implementation has read what it was sent. Without that wait small writes arrive together."""

    def but(self, **changes: Any) -> Framing:
        """The framing with some fields changed."""
        return replace(self, **changes)

    @property
    def model(self) -> str:
        """The model that a reply names."""
        return DATED if self.quirk == "model-dated" else MODEL

    @property
    def layout(self) -> set[str]:
        """The names of the layout fields that differ from the default."""
        return {name for name in LAYOUT if getattr(self, name) != getattr(DEFAULT, name)}

    def encode(self, events: Iterable[object], *, named: bool = False) -> bytes:
        """The event stream of these events: JSON values, or strings that are sent as they are (an end marker).

        ``named``: an ``event:`` line repeats the ``type`` of each event that has one.
        """
        return b"".join(self.encode_each(events, named=named))

    def encode_each(self, events: Iterable[object], *, named: bool = False) -> Iterator[bytes]:
        """As ``encode``, event by event: the joined pieces equal the result of ``encode``."""
        named = named and self.quirk != "unnamed-events"
        if not self.unusual_encoding:
            yield from _plainly(events, named=named)
            return
        first = "\ufeff" if self.mark else ""
        for number, event in enumerate(events):
            yield (first + self._event(event, number, named=named)).encode()
            first = ""
        if self.comments:
            yield f": bye{self.newline}{self.newline}".encode()

    @property
    def unusual_encoding(self) -> bool:
        """Whether the encoding differs from the default in more than the cuts."""
        odd = self.comments or self.data_lines or self.mark or self.escaped or self.event_names or self.padded
        return odd or not self.space or self.newline != "\n"

    def pieces(self, stream: bytes) -> list[bytes]:
        """The writes that the stream is cut into."""
        if self.every and stream:
            return [stream[at : at + self.every] for at in range(0, len(stream), self.every)]
        cuts = {*self.cuts, *(_tears(stream) if self.torn else ())}
        if not cuts:
            return [stream]
        borders = [0, *sorted(cut for cut in cuts if 0 < cut < len(stream)), len(stream)]
        return [stream[start:end] for start, end in pairwise(borders)]

    def _event(self, event: object, number: int, *, named: bool) -> str:
        gap = " " if self.space else ""
        lines = [": keep-alive", ""] if self.comments else []
        name = event.get("type") if named and isinstance(event, dict) else None
        if name or self.event_names:
            lines.append(f"event:{gap}{name or 'message'}")
        if self.event_names:
            lines += [f"id:{gap}{number}", f"retry:{gap}3000"]
        lines += [f"data:{gap}{line}" for line in self._text(event).split("\n")]
        return self.newline.join([*lines, "", ""])

    def _text(self, event: object) -> str:
        if isinstance(event, str):
            return event
        text = _encoder(self.escaped, self.data_lines).encode(event)
        return f"{text[:-1]}   {text[-1]}" if self.padded else text


_TEARS = ((rb"[\xc2-\xf4](?=[\x80-\xbf])", 4), (rb"\\(?=[^u])", 2), (rb"\r(?=\n)|\n(?=\n)", 2), (rb"^da(?=ta:)", 1))
"""What ends where a stream is torn: the first byte of a character, the backslash of an escape, the first byte of a line
end, the first half of a field's name; and at how many places."""


def _tears(stream: bytes) -> Iterator[int]:
    """The offsets at which a stream is torn."""
    for pattern, most in _TEARS:
        for found in islice(re.finditer(pattern, stream, re.MULTILINE), most):
            yield found.end()


def _plainly(events: Iterable[object], *, named: bool) -> Iterator[bytes]:
    """Each event as one data line, after its name. A fast path, since most streams have this form."""
    for event in events:
        data = event.encode() if isinstance(event, str) else compact(event)
        name = event.get("type") if named and isinstance(event, dict) else None
        yield b"event: %b\ndata: %b\n\n" % (name.encode(), data) if name else b"data: %b\n\n" % data


@cache
def _encoder(escaped: bool, indented: bool) -> json.JSONEncoder:
    return json.JSONEncoder(ensure_ascii=escaped, separators=(",", ":"), indent=1 if indented else None)


DEFAULT = Framing()

LAYOUT = (
    "fragment",
    "interleaved",
    "one_delta",
    "calls_first",
    "empty_deltas",
    "usage",
    "opening",
    "unknown_fields",
    "unknown_events",
    "pings",
    "split_end",
    "no_empty_arguments",
    "done",
)
"""The fields of the event layout; all others except ``quirk`` belong to the SSE encoding."""

PRESETS: dict[str, Framing] = {
    "natural": DEFAULT,
    "one-character-deltas": DEFAULT.but(fragment=1),
    "whole-arguments": DEFAULT.but(fragment=0),
    "interleaved-calls": DEFAULT.but(fragment=3, interleaved=True),
    "calls-in-one-delta": DEFAULT.but(one_delta=True),
    "empty-deltas": DEFAULT.but(empty_deltas=True),
    "no-usage-chunk": DEFAULT.but(usage=False),
    "opening-chunk": DEFAULT.but(opening=True),
    "unknown-fields": DEFAULT.but(unknown_fields=True),
    "unknown-events": DEFAULT.but(unknown_events=True),
    "pings": DEFAULT.but(pings=True),
    "split-end": DEFAULT.but(split_end=True),
    "no-empty-arguments": DEFAULT.but(no_empty_arguments=True),
    "no-done": DEFAULT.but(done=False),
    "crlf": DEFAULT.but(newline="\r\n"),
    "cr": DEFAULT.but(newline="\r"),
    "comments": DEFAULT.but(comments=True),
    "no-space": DEFAULT.but(space=False),
    "data-lines": DEFAULT.but(data_lines=True),
    "byte-order-mark": DEFAULT.but(mark=True),
    "escaped": DEFAULT.but(escaped=True),
    "event-names": DEFAULT.but(event_names=True),
    "padded": DEFAULT.but(padded=True),
    "single-bytes": DEFAULT.but(every=1),
    "single-bytes-crlf": DEFAULT.but(every=1, newline="\r\n"),
    "torn": DEFAULT.but(torn=True),
    "torn-crlf": DEFAULT.but(torn=True, newline="\r\n"),
}
"""Named framings. Each is legal on the wires that apply its layout."""


def together(framings: Iterable[Framing]) -> Framing:
    """One framing with all in which these differ from the default."""
    changes: dict[str, Any] = {}
    for framing in framings:
        changes |= {
            one.name: value
            for one in fields(Framing)
            if (value := getattr(framing, one.name)) != getattr(DEFAULT, one.name)
        }
    return DEFAULT.but(**changes)
