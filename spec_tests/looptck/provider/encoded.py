"""Turns as the bytes of replies. A turn that comes again is not encoded again: only the reply's number changes.

A script without end repeats its step, and all that differs in the replies to it is their number, in ids and times. From
the second reply on such a turn is kept as the bytes between its numbers. Which bytes these are is seen from an encoding
with a number that nothing else in it has; they are kept only if the numbers of a real reply, put between them, make its
own encoding.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from looptck.values.framing import Framing
from looptck.values.frozen import dataclass
from looptck.values.jsontext import compact
from looptck.values.turns import Turn
from looptck.wires import Wire

_NOBODYS = 7_315_529_084_417_263
"""A number that no reply has. It has as many digits as ids give to a number."""


def spelled(n: int) -> list[bytes]:
    """The number of a reply as wires spell it in items, in replies and in the seconds of begin and end."""
    began = 1_750_000_000 + n
    return [b"looptck%04d_" % n, b"looptck%016d" % n, b"%d" % began, b"%d" % (began + 1)]


@dataclass(frozen=True, slots=True)
class Blanks:
    """The bytes between the numbers of a reply."""

    pieces: list[bytes]
    """By turns: bytes, and a place for a number."""
    numbers: list[int]
    """For each place, which spelling of the number comes there."""

    @classmethod
    def of(cls, encode: Callable[[int], bytes]) -> Blanks:
        """The bytes between the numbers in what this makes of a number."""
        words = spelled(_NOBODYS)
        pieces = re.split(b"(%b)" % b"|".join(words), encode(_NOBODYS))
        return cls(pieces, [words.index(word) for word in pieces[1::2]])

    def with_number(self, n: int) -> bytes:
        """The reply with this number."""
        words = spelled(n)
        pieces = self.pieces.copy()
        pieces[1::2] = [words[number] for number in self.numbers]
        return b"".join(pieces)


class Encoder:
    """Encodes the replies of one run."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._kind: tuple[Turn, Framing, bool] | None = None
        """The latest turn, its framing, and whether it was streamed."""
        self._is_new = True
        self._blanks: Blanks | None = None

    def plain(self, turn: Turn, n: int, framing: Framing) -> bytes:
        """The body of a plain reply."""
        return self._repeated(turn, framing, n, lambda number: self._plain(turn, number, framing), stream=False)

    def stream(self, turn: Turn, n: int, framing: Framing) -> bytes:
        """The body of a streamed reply."""
        return self._repeated(turn, framing, n, lambda number: self._stream(turn, number, framing), stream=True)

    def _plain(self, turn: Turn, n: int, framing: Framing) -> bytes:
        reply: Any = self._wire.body(turn, n, framing)
        return json.dumps(reply).encode() if framing.escaped else compact(reply)

    def _stream(self, turn: Turn, n: int, framing: Framing) -> bytes:
        return framing.encode(self._wire.events(turn, n, framing), named=self._wire.named_events)

    def _repeated(self, turn: Turn, framing: Framing, n: int, encode: Callable[[int], bytes], *, stream: bool) -> bytes:
        kind = self._kind
        if kind is None or kind[0] is not turn or kind[1] is not framing or kind[2] != stream:
            self._kind, self._is_new, self._blanks = (turn, framing, stream), True, None
            return encode(n)
        if self._blanks is not None:
            return self._blanks.with_number(n)
        encoded = encode(n)
        if self._is_new:
            self._is_new = False
            blanks = Blanks.of(encode)
            self._blanks = blanks if blanks.with_number(n) == encoded else None
        return encoded
