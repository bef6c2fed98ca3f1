"""A service that fails every request, and still ends the runs of loops that wait longer and longer."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

from looptck.provider.faults import HttpError
from looptck.provider.script import Step
from looptck.values.turns import Turn, says

LONG = 15.0
"""Seconds between the first error and the last request, after which a loop with growing waits gets an answer."""
FEWEST = 5
"""The number of requests after which growing waits can be recognised."""
GROWN = 2.0
"""The factor by which the later half of the waits exceeds the earlier half if waits grow."""


@dataclass(slots=True)
class FailingService:
    """The reply to each request: the fault, and in the end an answer for a loop with growing waits.

    How long a loop backs off is its own choice. A loop whose waits do not grow gets the fault however slow the machine
    is, so an endless loop is recognised by the number of its requests alone.
    """

    fault: Step | HttpError
    clock: Callable[[], float] = time.monotonic
    answered: bool = False
    """Whether the loop was given an answer in the end."""
    arrivals: list[float] = field(default_factory=list)

    def __call__(self, _: int) -> Step | HttpError | Turn:
        """The reply to a request that has just arrived."""
        self.arrivals.append(self.clock())
        self.answered = self.answered or (self.arrivals[-1] - self.arrivals[0] > LONG and waits_grow(self.arrivals))
        return says("At last.") if self.answered else self.fault


def waits_grow(arrivals: list[float]) -> bool:
    """Whether the waits between requests with these arrival times, in seconds, grow."""
    if len(arrivals) < FEWEST:
        return False
    waits = [later - earlier for earlier, later in pairwise(arrivals)]
    half = len(waits) // 2
    return sum(waits[-half:]) > GROWN * sum(waits[:half])
