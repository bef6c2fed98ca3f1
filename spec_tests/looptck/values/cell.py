"""Cells: wire × plain or stream × sync or async. A requirement has one verdict in each."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from looptck.values.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Cell:
    """One way to run a case."""

    wire: str
    stream: bool
    mode: str

    @classmethod
    def parse(cls, text: str) -> Cell:
        """The cell with this name."""
        wire, stream, mode = text.split("/")
        return cls(wire, stream == "stream", mode)

    def __str__(self) -> str:
        return f"{self.wire}/{'stream' if self.stream else 'plain'}/{self.mode}"

    @property
    def needs(self) -> str:
        """The capability that an implementation needs for this cell."""
        return "stream" if self.stream else "plain"

    def matches(self, patterns: Iterable[str]) -> bool:
        """Whether the cell matches one of these patterns; ``*`` matches anything."""
        return any(fnmatchcase(str(self), pattern) for pattern in patterns)
