"""Redaction: what a recording must not hold is masked, and a recording in which it stays is refused.

Headers are kept by an allow-list (``looptck.cassettes.file_format``). Bodies are searched for the secrets in use,
letter by letter, and for text that looks like a secret (``looptck.cassettes.secrets``). A mask is as long as what it
hides, so the borders of chunks remain true. A secret that no mask can reach, because it is written in escapes or in
pieces that a reader of the stream joins, is a leak.
"""

from __future__ import annotations

import base64
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from looptck.cassettes.events import stream_events
from looptck.cassettes.secrets import secrets
from looptck.values.turns import Call, Text, Thinking, Turn

IN_USE = "a secret in use"
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
        parts, at = [], 0
        for start, end, kind in sorted((start, end, kind) for kind, start, end in self._found(text)):
            if end > at:
                self.masked[kind] += 1
                hidden = text[max(start, at) : end].encode(errors="surrogateescape")
                parts += [text[at : max(start, at)], "*" * len(hidden)]
                at = end
        return "".join([*parts, text[at:]])

    def body(self, body: bytes) -> bytes:
        """The bytes of a body, masked."""
        return self.text(body.decode(errors="surrogateescape")).encode(errors="surrogateescape")

    def headers(self, headers: Mapping[str, str], kept: Iterable[str]) -> dict[str, str]:
        """Those headers that may be kept, masked."""
        return {name: self.text(headers[name]) for name in kept if name in headers}

    def leaks(self, place: str, texts: Iterable[str]) -> None:
        """Raises Leak if one of these texts holds a secret."""
        for text in texts:
            for kind, _, _ in self._found(text):
                raise Leak(f"{place}: {kind} is left in escapes or in pieces, which cannot be masked")

    def _found(self, text: str) -> Iterator[tuple[str, int, int]]:
        if self._in_use:
            yield from ((IN_USE, *match.span()) for match in self._in_use.finditer(text))
        yield from ((one.kind, one.start, one.end) for one in secrets(text))


def texts_of_body(body: bytes) -> Iterator[str]:
    """The texts in a body of JSON or events: each string, and the joined strings of each member of a stream's events.

    A member that is the same in all events, such as an id, is not sent in pieces.
    """
    try:
        events = [json.loads(body)]
    except ValueError:
        events = [event.value for event in stream_events(body)]
    pieces: dict[str, list[str]] = defaultdict(list)
    for event in events:
        for path, leaf in _strings(event):
            yield leaf
            pieces[path].append(leaf)
    yield from ("".join(many) for many in pieces.values() if len(set(many)) > 1)


def texts_of_turn(turn: Turn) -> Iterator[str]:
    """The texts of a turn."""
    for piece in turn.pieces:
        if isinstance(piece, Text | Thinking):
            yield piece.text
        elif isinstance(piece, Call):
            yield from (piece.tool, piece.arguments)


def _strings(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every string in a JSON value, with its place; names of members too."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for name, member in value.items():
            yield f"{path}/{name}#", name
            yield from _strings(member, f"{path}/{name}")
    elif isinstance(value, list):
        for place, entry in enumerate(value):
            yield from _strings(entry, f"{path}/{place}")


def _spellings(secret: str) -> set[str]:
    """A secret as it is written in JSON, in a URL, and in a header."""
    raw = secret.encode(errors="surrogateescape")
    in_json = {json.dumps(secret, ensure_ascii=ascii)[1:-1] for ascii in (True, False)}
    return {secret, *in_json, quote(raw, safe=""), base64.b64encode(raw).decode()}
