"""Framing: the way one turn is cut into events, lines and bytes.

A reader of the wire must come to the same turn whatever the framing. Two halves: the *shape* says how a turn falls
into events (that is the wire's to carry out), the *dress* says how events become lines and bytes (the same for every
wire, and done here).

The dress follows the event-stream format of the WHATWG HTML standard, section 9.2.5 to 9.2.6: lines end in LF, CR or
CRLF, a line that starts with a colon is a comment, one space after a field's colon is dropped, several ``data`` lines
are joined with LF, one leading byte order mark is dropped.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any, Literal

Quirk = Literal[
    "ids-repeated",
    "one-index",
    "no-index",
    "index-from-one",
    "name-in-pieces",
    "finish-repeated",
    "arguments-object",
    "calls-null",
    "calls-empty",
]
"""What some servers do and the wire's own service does not (compat shapes)."""


@dataclass(frozen=True, slots=True)
class Framing:
    """How a turn becomes a stream. The default is what the service itself does, in one write."""

    fragment: int = 12
    """Characters of text or arguments in one delta; 0: all in one."""
    interleaved: bool = False
    """Fragments of several calls take turns."""
    one_delta: bool = False
    """All calls, whole, in a single delta."""
    calls_first: bool = False
    """Text after the calls of its turn, where a wire's deltas may come in any order."""
    empty_deltas: bool = False
    """A delta with nothing in it after every event."""
    usage: bool = True
    """A last chunk with usage and no choices."""
    opening: bool = False
    """A first chunk without choices, as content-filtering proxies send."""
    unknown_fields: bool = False
    """Fields that no documentation names, in every event."""
    done: bool = True
    """The wire's end marker."""
    quirk: Quirk | None = None

    newline: Literal["\n", "\r\n", "\r"] = "\n"
    comments: bool = False
    """A comment line before every event, and one at the end."""
    space: bool = True
    """A space after ``data:``."""
    data_lines: bool = False
    """The JSON of each event laid over several ``data:`` lines."""
    mark: bool = False
    """A byte order mark at the very start."""
    escaped: bool = False
    """Characters beyond ASCII written as escapes instead of UTF-8."""
    event_names: bool = False
    """An ``event:`` line before each ``data:``, with the fields ``id`` and ``retry``."""
    cuts: tuple[int, ...] = ()
    """Byte offsets at which a write ends."""
    every: int = 0
    """Write this many bytes at a time; 0: only the cuts count."""

    def but(self, **changes: Any) -> Framing:
        """The same framing with some of it changed."""
        return replace(self, **changes)

    def dress(self, events: Iterable[object]) -> bytes:
        """The event stream of these events: JSON values, or strings that stand for themselves (an end marker)."""
        return b"".join(self.dress_each(events))

    def dress_each(self, events: Iterable[object]) -> Iterator[bytes]:
        """The same, an event at a time: joined, they are what ``dress`` gives."""
        first = "\ufeff" if self.mark else ""
        for number, event in enumerate(events):
            yield (first + self._event(event, number)).encode()
            first = ""
        if self.comments:
            yield f": bye{self.newline}{self.newline}".encode()

    def pieces(self, stream: bytes) -> list[bytes]:
        """The writes that the stream is cut into."""
        if self.every and stream:
            return [stream[at : at + self.every] for at in range(0, len(stream), self.every)]
        borders = [0, *sorted({cut for cut in self.cuts if 0 < cut < len(stream)}), len(stream)]
        return [stream[start:end] for start, end in pairwise(borders)]

    def _event(self, event: object, number: int) -> str:
        colon = "data: " if self.space else "data:"
        lines = [": keep-alive", ""] if self.comments else []
        if self.event_names:
            lines += ["event: message", f"id: {number}", "retry: 3000"]
        lines += [colon + line for line in self._text(event).split("\n")]
        return self.newline.join([*lines, "", ""])

    def _text(self, event: object) -> str:
        if isinstance(event, str):
            return event
        return _encoder(self.escaped, self.data_lines).encode(event)


@cache
def _encoder(escaped: bool, indented: bool) -> json.JSONEncoder:
    return json.JSONEncoder(ensure_ascii=escaped, separators=(",", ":"), indent=1 if indented else None)


NATURAL = Framing()

PRESETS: dict[str, Framing] = {
    "natural": NATURAL,
    "one-character-deltas": NATURAL.but(fragment=1),
    "whole-arguments": NATURAL.but(fragment=0),
    "interleaved-calls": NATURAL.but(fragment=3, interleaved=True),
    "calls-in-one-delta": NATURAL.but(one_delta=True),
    "empty-deltas": NATURAL.but(empty_deltas=True),
    "no-usage-chunk": NATURAL.but(usage=False),
    "opening-chunk": NATURAL.but(opening=True),
    "unknown-fields": NATURAL.but(unknown_fields=True),
    "no-done": NATURAL.but(done=False),
    "crlf": NATURAL.but(newline="\r\n"),
    "cr": NATURAL.but(newline="\r"),
    "comments": NATURAL.but(comments=True),
    "no-space": NATURAL.but(space=False),
    "data-lines": NATURAL.but(data_lines=True),
    "byte-order-mark": NATURAL.but(mark=True),
    "escaped": NATURAL.but(escaped=True),
    "event-names": NATURAL.but(event_names=True),
    "single-bytes": NATURAL.but(every=1),
    "single-bytes-crlf": NATURAL.but(every=1, newline="\r\n"),
}
"""Framings with a name. Each is legal on every wire."""
