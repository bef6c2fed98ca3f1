"""A clock that stands still until a test moves it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(eq=False)
class HandTimer:
    """What happens at a time."""

    due: float
    callback: Callable[[], object]
    cancelled: bool = False

    def cancel(self) -> None:
        """Let it not happen."""
        self.cancelled = True


class HandClock:
    """For a server; its timers go off while `advance` is called."""

    def __init__(self, now: float = 0.0) -> None:
        self._now = now
        self._timers: list[HandTimer] = []
        self._another = asyncio.Event()

    def now(self) -> float:
        """What the test says."""
        return self._now

    def later(self, seconds: float, callback: Callable[[], object]) -> HandTimer:
        """A timer of this clock."""
        timer = HandTimer(self._now + seconds, callback)
        self._timers = [one for one in self._timers if not one.cancelled] + [timer]
        self._another.set()
        return timer

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._now += seconds
        for timer in list(self._timers):
            if not timer.cancelled and timer.due <= self._now:
                timer.cancel()
                timer.callback()

    async def waits(self, seconds: float) -> None:
        """Until somebody waits for the time that is so far away."""
        while not any(not one.cancelled and one.due == self._now + seconds for one in self._timers):
            self._another.clear()
            await asyncio.wait_for(self._another.wait(), 10)
