"""A service that errs for as long as it is asked, without waiting for minutes for loops that wait longer and longer."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

from looptck.provider.faults import HttpError
from looptck.provider.script import Step
from looptck.turns import Turn, says

LONG = 15.0
"""Seconds from the first error to the last request, behind which a loop that waits longer and longer is let go."""
FEWEST = 5
"""Requests that show whether waits grow."""
GROWN = 2.0
"""How much longer the later half of the waits is, all in all, where they grow."""


@dataclass(slots=True)
class Errs:
    """What the service answers to each request: the fault, and at last an answer to a loop that shows patience.

    How patient a loop is, is its own affair. One that waits no longer than before gets the fault however long the
    machine takes, so that a loop without an end is seen by the number of its requests and by nothing else.
    """

    fault: Step | HttpError
    clock: Callable[[], float] = time.monotonic
    let_go: bool = False
    """Whether the loop was answered at last."""
    arrivals: list[float] = field(default_factory=list)

    def __call__(self, _: int) -> Step | HttpError | Turn:
        """The answer to a request that has just come."""
        self.arrivals.append(self.clock())
        self.let_go = self.let_go or (self.arrivals[-1] - self.arrivals[0] > LONG and grow(self.arrivals))
        return says("At last.") if self.let_go else self.fault


def grow(arrivals: list[float]) -> bool:
    """Whether the waits between requests that came at these times, in seconds, grow."""
    if len(arrivals) < FEWEST:
        return False
    waits = [later - earlier for earlier, later in pairwise(arrivals)]
    half = len(waits) // 2
    return sum(waits[-half:]) > GROWN * sum(waits[:half])
