"""How encoders cut texts into deltas, and let the deltas of several pieces take turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import TypeVar

T = TypeVar("T")


def parts(text: str, size: int) -> Iterator[str]:
    """The text in parts of this many characters; 0: all in one. Empty text has no parts."""
    if not size:
        size = max(len(text), 1)
    return (text[at : at + size] for at in range(0, len(text), size))


def taking_turns(lines: Sequence[Sequence[T]], ends: Callable[[T], bool] = lambda _: False) -> Iterator[T]:
    """One of each line, then the next of each, until all are through; then their ends, line by line.

    The end of a line is what follows from the first of it that ``ends`` on. The lines end in their order, as a reader
    may take for the order of what they tell the order in which they end.
    """
    heads = [list(takewhile(lambda one: not ends(one), line)) for line in lines]
    for step in range(max(map(len, heads), default=0)):
        yield from (head[step] for head in heads if step < len(head))
    for line, head in zip(lines, heads, strict=True):
        yield from line[len(head) :]
