"""Redaction: what a recording must not hold is masked, and a recording in which it stays is refused.

Headers are kept by an allow-list (``looptck.cassettes.file_format``). Bodies are searched for the secrets in use and
for what looks like a secret (``looptck.cassettes.secrets``), on every level on which a reader may find it: as it is
written, in decoded strings, in JSON within strings, and in strings that come in pieces (``looptck.cassettes.decoded``).
A mask covers every byte that a secret is written in and is as long as they are, so JSON stays JSON and the borders of
chunks remain true. The masked body is read once more: what is found then is a leak.
"""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import quote

from looptck.cassettes.decoded import OPAQUE_WHOLE, Decoded, readings
from looptck.cassettes.secrets import secrets
from looptck.values.turns import Call, Text, Thinking, Turn

IN_USE = "a secret in use"
MASK = b"*"
_RUN = re.compile(rb"([^\0])\1*", re.DOTALL)
SHORTEST = 8
"""Characters of the shortest secret in use that is searched for: shorter ones occur in any sentence."""


class Leak(Exception):
    """A secret that cannot be masked; the text gives its kind and place, and never the secret."""


class Scrubber:
    """Masks one recording, and counts the masks."""

    def __init__(self, in_use: Iterable[str]) -> None:
        known = {text for secret in in_use if len(secret) >= SHORTEST for text in _spellings(secret)}
        self._in_use = re.compile("|".join(map(re.escape, sorted(known, key=len, reverse=True)))) if known else None
        self.masked: Counter[str] = Counter()
        """How many times, by what it was."""

    def text(self, text: str) -> str:
        """The text, masked; its length in UTF-8 stays the same."""
        return self.body(text.encode(errors="surrogateescape")).decode(errors="surrogateescape")

    def body(self, body: bytes) -> bytes:
        """The bytes of a body, masked."""
        masked, marks = bytearray(body), bytearray(len(body))  # a mark is the number of the kind that is hidden there
        kinds: dict[str, int] = {}
        for reading in readings(body):
            for kind, start, end in self._found(reading):
                number = kinds.setdefault(kind, len(kinds) + 1)
                for first, last in reading.spans(start, end):
                    masked[first:last] = MASK * (last - first)
                    marks[first:last] = marks[first:last].replace(b"\0", bytes([min(number, 255)]))
        names = list(kinds)
        self.masked.update(names[run[0][0] - 1] for run in _RUN.finditer(marks))
        return bytes(masked)

    def headers(self, headers: Mapping[str, str], kept: Iterable[str]) -> dict[str, str]:
        """Those headers that may be kept, masked."""
        return {name: self.text(headers[name]) for name in kept if name in headers}

    def leaks(self, place: str, texts: Iterable[Decoded | str]) -> None:
        """Raises Leak if one of these texts holds a secret."""
        for text in texts:
            for kind, _, _ in self._found(Decoded(text, (), OPAQUE_WHOLE) if isinstance(text, str) else text):
                raise Leak(f"{place}: {kind} is left, which cannot be masked")

    def _found(self, reading: Decoded) -> Iterator[tuple[str, int, int]]:
        if self._in_use:
            yield from ((IN_USE, *match.span()) for match in self._in_use.finditer(reading.text))
        found = secrets(reading.text, reading.member, is_json=reading.has_strings)
        yield from ((one.kind, one.start, one.end) for one in found)


def texts_of_turn(turn: Turn) -> Iterator[str]:
    """The texts of a turn."""
    for piece in turn.pieces:
        if isinstance(piece, Text | Thinking):
            yield piece.text
        elif isinstance(piece, Call):
            yield from (piece.tool, piece.arguments)


def _spellings(secret: str) -> set[str]:
    """A secret as it is written in JSON, in a URL, and in a header."""
    raw = secret.encode(errors="surrogateescape")
    in_json = {json.dumps(secret, ensure_ascii=ascii)[1:-1] for ascii in (True, False)}
    return {secret, *in_json, quote(raw, safe=""), base64.b64encode(raw).decode()}
