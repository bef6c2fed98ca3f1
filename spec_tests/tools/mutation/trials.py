"""Trials: each mutant in a process of its own, with limits, and what became of it."""

from __future__ import annotations

import math
import os
import resource
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from looptck.commands.kill.apart import apart

MEMORY = 3 << 30
"""The most bytes of address space that a mutant may take."""
GRACE = 5
"""Seconds after its time limit at which a mutant ends by itself, should its parent be gone."""


class Named(Protocol):
    """A mutant."""

    @property
    def name(self) -> str: ...


Mutant = TypeVar("Mutant", bound=Named)


@dataclass(frozen=True, slots=True)
class Kill:
    """How a mutant was found out."""

    by: str
    """``suite``, ``tests`` or ``limit``: its time limit, or that of its memory."""
    which: str
    """The requirement, the test or the limit."""
    verdict: str = ""


@dataclass(frozen=True, slots=True)
class Trial(Generic[Mutant]):
    """What became of a mutant; nothing killed it: it survived."""

    mutant: Mutant
    kill: Kill | None
    trouble: str = ""
    """What went wrong in the trial itself, which so says nothing of the mutant."""


def trials(
    examine: Callable[[Mutant], Kill | None], mutants: Sequence[Mutant], *, workers: int, seconds: float
) -> Iterator[Trial[Mutant]]:
    """Examine each mutant in a process of its own, and tell what became of it in the order in which they end.

    ``seconds`` is what one mutant may take.
    """

    def limited(mutant: Mutant) -> Kill | None:
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)  # what a mutant has to say helps nobody
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        signal.alarm(math.ceil(seconds) + GRACE)
        try:
            return examine(mutant)
        except MemoryError:
            return Kill("limit", "its memory")

    for done in apart(limited, mutants, workers=workers, seconds=seconds):
        if "Traceback" in done.trouble:
            yield Trial(done.task, None, done.trouble)
        else:
            yield Trial(done.task, Kill("limit", done.trouble) if done.trouble else done.value)
