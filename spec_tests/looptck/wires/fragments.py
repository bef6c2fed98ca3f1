"""Helpers of the encoders: cutting texts into deltas, and interleaving the deltas of several pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import TypeVar

T = TypeVar("T")


def parts(text: str, size: int) -> Iterator[str]:
    """The text in parts of this many characters; 0: in one part. Empty text has no parts."""
    if not size:
        size = max(len(text), 1)
    return (text[at : at + size] for at in range(0, len(text), size))


def taking_turns(lines: Sequence[Sequence[T]], ends: Callable[[T], bool] = lambda _: False) -> Iterator[T]:
    """Interleave sequences: the first element of each, then the second of each, and so on; then the ends in order.

    The end of a sequence begins with its first element for which ``ends`` is true. The sequences end in their order,
    since a reader may take the order of the ends for the order of the pieces.
    """
    heads = [list(takewhile(lambda one: not ends(one), line)) for line in lines]
    for step in range(max(map(len, heads), default=0)):
        yield from (head[step] for head in heads if step < len(head))
    for line, head in zip(lines, heads, strict=True):
        yield from line[len(head) :]
