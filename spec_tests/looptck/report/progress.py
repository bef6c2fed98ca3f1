"""Progress: how many checks are done and left, and the estimated time that the rest takes."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from looptck.values.verdicts import AGAINST

if TYPE_CHECKING:
    from looptck.suite.record import Record

ENOUGH = 10
"""The number of finished checks from which on the time is estimated."""
MINUTE = 60


class Progress:
    """The progress line of a run."""

    def __init__(self, record: Record, began: float | None = None) -> None:
        self._record = record
        self._began = monotonic() if began is None else began

    def line(self, now: float) -> str:
        """The line at a time of the monotonic clock."""
        done = self._record.judged
        against = sum(result.verdict in AGAINST for result in self._record.results)
        left = self._record.checks - done
        pace = (now - self._began) / done if done >= ENOUGH else None
        time = f", about {in_words(left * pace)}" if pace is not None and left else ""
        return f"{done} of {self._record.checks} checks, {left} left{time}, {against} against"


def in_words(seconds: float) -> str:
    """A duration, rounded to seconds or minutes."""
    if seconds < MINUTE:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / MINUTE)} min"
