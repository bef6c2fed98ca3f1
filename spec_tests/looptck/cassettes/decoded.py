"""Decoded text that knows where each of its characters is written.

A body has the same text on several levels: as it is written, as the strings of its JSON, as what is quoted in these
(JSON, the text of a URL, base64), and as the strings that a reader of a stream joins from many events. A secret may be
whole on one of them only.
"""

from __future__ import annotations

import base64
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import overload
from urllib.parse import unquote

from looptck.values.frozen import dataclass

DEEPEST = 4
"""Levels of quoted text within strings that are decoded."""
MOSTLY = 0.9
"""The share of printable characters from which on decoded base64 is a text."""
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)
_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL
)
_PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2})+|.", re.DOTALL)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}")
_APART = re.compile(r"^/type$|(?:index|item_id)$")
"""The paths of members that tell pieces of one text in a stream from pieces of another."""
_EDGE = re.compile(r'["\r\n]')
_PLACE = re.compile(r"/\d+(?=/|$)")
_LINE_END = re.compile("\r\n|\r|\n")

OPAQUE_WHOLE = "id"
"""The member that a whole body counts as: its ids, which have to be kept, are among the rest of it."""
_STANDARD = str.maketrans("-_", "+/")
Spans = tuple[tuple[int, int], ...]
"""Ranges of bytes."""


class Written(Sequence[Spans]):
    """The bytes of characters that are written one after the other: little more than where each of them ends."""

    def __init__(self, first: int, ends: Sequence[int]) -> None:
        self.first = first
        self._ends = ends

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, place: int) -> Spans: ...
    @overload
    def __getitem__(self, place: slice) -> Written: ...
    def __getitem__(self, place: int | slice) -> Spans | Written:
        if isinstance(place, slice):
            start, stop, _ = place.indices(len(self._ends))
            return Written(self._ends[start - 1] if start else self.first, self._ends[start:stop])
        place = range(len(self._ends))[place]
        return ((self._ends[place - 1] if place else self.first, self._ends[place]),)

    @property
    def whole(self) -> Spans:
        """All of them as one range."""
        return ((self.first, self._ends[-1]),) if self._ends else ()


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text, with the bytes that each of its characters is written in."""

    text: str
    places: Sequence[Spans]
    member: str = ""
    """The name of the JSON member whose value it is, or is in."""
    is_string: bool = False
    """Whether it is the text of a JSON string."""
    has_strings: bool = False
    """Whether JSON strings are in it, beyond whose ends and lines nothing may be taken for one text."""

    @classmethod
    def of(cls, body: bytes, member: str = OPAQUE_WHOLE) -> Decoded:
        """The text of a body as it is written. Bytes that are not UTF-8 are characters of their own."""
        text = body.decode(errors="surrogateescape")
        if len(text) == len(body):
            return cls(text, Written(0, range(1, len(body) + 1)), member)
        return cls(text, Written(0, [*accumulate(len(one.encode(errors="surrogateescape")) for one in text)]), member)

    def part(self, start: int, end: int, member: str | None = None) -> Decoded:
        """A part of it."""
        return Decoded(self.text[start:end], self.places[start:end], self.member if member is None else member)

    def spans(self, start: int, end: int) -> Spans:
        """The bytes that some of its characters are written in, up to the end of the string that they are in."""
        if self.has_strings and (edge := _EDGE.search(self.text, start, end)):
            end = edge.start()
        places = self.places[start:end]
        return places.whole if isinstance(places, Written) else tuple(span for spans in places for span in spans)

    def decoded(self, characters: re.Pattern[str]) -> Decoded:
        """The text with its escapes resolved: those of JSON strings, or of URLs."""
        if ("\\" if characters is _CHARACTER else "%") not in self.text:
            return replace(self, is_string=False, has_strings=False)
        texts, places = list[str](), list[Spans]()
        for match in characters.finditer(self.text):
            resolved = _resolved(match.group())
            texts.append(resolved)
            places += [self.spans(*match.span())] * len(resolved)
        return Decoded("".join(texts), places, self.member)

    def from_base64(self) -> Iterator[Decoded]:
        """The texts that are in it as base64, or behind letters that only look so. None has the member's name."""
        for match in _BASE64.finditer(self.text):
            for at in range(match.start(), match.start() + 4):
                word = self.text[at : match.end()].translate(_STANDARD)
                whole = base64.b64decode(f"{word}{'=' * (-len(word) % 4)}" if len(word) % 4 != 1 else word[:-1])
                text = whole.decode(errors="surrogateescape")
                if sum(map(str.isprintable, text)) + text.count("\n") >= MOSTLY * len(text):
                    borders = pairwise([0, *accumulate(len(one.encode(errors="surrogateescape")) for one in text)])
                    yield Decoded(text, [self.spans(at + a // 3 * 4, at + (b + 2) // 3 * 4) for a, b in borders])


def joined(pieces: Sequence[Decoded]) -> Decoded:
    """Pieces one after the other."""
    text = "".join(piece.text for piece in pieces)
    places = [place for piece in pieces for place in piece.places]
    return Decoded(text, places, pieces[0].member, pieces[0].is_string)


def readings(body: bytes) -> Iterator[Decoded]:
    """All that a reader may take for the text of a body, on every level."""
    written = Decoded.of(body)
    parts = list(_data(written))
    yield replace(written, has_strings=any('"' in part.text for part in parts))
    pieces: dict[str, list[Decoded]] = defaultdict(list)
    for data in parts:
        if not data.member:
            yield from _levels(data, DEEPEST)
        leaves = list(_leaves(data))
        apart = " ".join(f"{path}={leaf.text}" for path, leaf in leaves if _APART.search(path))
        for path, leaf in leaves:
            if leaf.is_string:
                yield from _levels(leaf, DEEPEST)
                pieces[f"{path} {apart}"].append(leaf)
                if path != (entries := _PLACE.sub("/*", path)):  # the tokens of a list, say
                    pieces[entries].append(leaf)
    for many in pieces.values():
        if len({piece.text for piece in many}) > 1:
            yield from _levels(joined(many), DEEPEST)


def _levels(string: Decoded, depth: int) -> Iterator[Decoded]:
    """A string, and the strings that it may be read as: of a URL, of base64, and of JSON in it."""
    yield string
    if not depth:
        return
    if "%" in string.text and (plain := string.decoded(_PERCENT)).text != string.text:
        yield from _levels(plain, depth - 1)
    for text in string.from_base64():
        yield from _levels(text, depth - 1)
    if '"' in string.text:
        for _, leaf in _leaves(string):
            if leaf.is_string:
                yield from _levels(leaf, depth - 1)


def _data(written: Decoded) -> Iterator[Decoded]:
    """The data of each event of a stream, and everything else line by line; JSON as it is."""
    text = written.text
    try:
        json.loads(text)
    except ValueError:
        pass
    else:
        yield written
        return
    held = list[Decoded]()
    at = 0
    for end in [*_LINE_END.finditer(text), None]:
        line = written.part(at, end.start() if end else len(text))
        at = end.end() if end else len(text)
        if line.text.startswith("data:"):
            skip = len("data: ") if line.text.startswith("data: ") else len("data:")
            held.append(line.part(skip, len(line.text)))
        elif not line.text and held:
            yield joined(held)
            held = []
        elif line.text:
            yield replace(line, member="")
    if held:
        yield joined(held)


def _leaves(whole: Decoded) -> Iterator[tuple[str, Decoded]]:
    """The leaves in JSON, names of members among them, each with its path; also in JSON that is cut off."""
    path: list[str | int] = []
    is_name = False
    for match in _TOKEN.finditer(whole.text):
        word = match.group()
        if word in "{[":
            path.append("" if word == "{" else 0)
            is_name = word == "{"
        elif word in "}]":
            del path[-1:]
        elif word == ",":
            is_name = bool(path) and isinstance(path[-1], str)
            path[-1:] = [path[-1] + 1] if path and isinstance(path[-1], int) else path[-1:]
        elif word == ":":
            is_name = False
        elif word.startswith('"'):
            member = next((name for name in reversed(path) if isinstance(name, str)), "")
            inner = whole.part(match.start() + 1, match.end() - 1, "" if is_name else member)
            leaf = replace(inner.decoded(_CHARACTER), is_string=True)
            yield _pointer(path[:-1]) + "#" if is_name else _pointer(path), leaf
            if is_name and path:
                path[-1] = leaf.text
        else:
            yield _pointer(path), whole.part(*match.span(), "")


def _pointer(path: Sequence[str | int]) -> str:
    return "".join(f"/{step}" for step in path)


def _resolved(written: str) -> str:
    if written.startswith("%"):
        return unquote(written, errors="replace")
    if not written.startswith("\\"):
        return written
    try:
        resolved: str = json.loads(f'"{written}"')
    except ValueError:
        return written
    return resolved
