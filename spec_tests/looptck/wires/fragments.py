"""How encoders cut texts into deltas, and let the deltas of several pieces take turns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def parts(text: str, size: int) -> Iterator[str]:
    """The text in parts of this many characters; 0: all in one. Empty text has no parts."""
    if not size:
        size = max(len(text), 1)
    return (text[at : at + size] for at in range(0, len(text), size))


def taking_turns(lines: Sequence[Sequence[T]]) -> Iterator[T]:
    """One of each line, then the next of each, until all are through."""
    for step in range(max(map(len, lines), default=0)):
        yield from (line[step] for line in lines if step < len(line))
