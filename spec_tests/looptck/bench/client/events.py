"""An event stream as it comes: bytes in, whole events out."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any

from looptck.wires.received import named

_LINE = re.compile(r"\r\n|\r|\n")
_BLANK = re.compile(r"(?>\r\n|\r|\n)(?>\r\n|\r|\n)")
"""The end of an event. Atomic groups: a CRLF is one end of a line, and never the two of an empty one."""
_REACH = 3
"""How many characters of the end of an event may have come before the last one."""


class Reader:
    """Cuts a stream into events. Comments are counted and give none."""

    def __init__(self) -> None:
        self.comments = 0
        self._pieces: list[str] = []
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode

    @property
    def rest(self) -> str:
        """What has come of an event that is not whole."""
        return "".join(self._pieces)

    def feed(self, data: bytes) -> Iterator[tuple[str, Any]]:
        """The name and the value of each event that is whole now: its JSON, or its text where that is none."""
        piece = self._decode(data)
        before = "".join(self._pieces[-_REACH:])[-_REACH:]
        if piece:
            self._pieces.append(piece)
        if not _BLANK.search(before + piece):
            return
        rest, start, whole = self.rest, 0, []
        for found in _BLANK.finditer(rest):
            whole.append(rest[start : found.end()])
            start = found.end()
        self._pieces = [rest[start:]] if rest[start:] else []
        for event in whole:
            self.comments += sum(line.startswith(":") for line in _LINE.split(event))
            for name, text in named(event):
                yield name, _value(text)


def _value(data: str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return data
