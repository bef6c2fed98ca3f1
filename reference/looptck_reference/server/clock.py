"""Time for a server: the current time and timers. Tests have a clock of their own."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, Protocol

__all__ = ["Clock", "SystemClock", "Timer", "done_within"]


class Timer(Protocol):
    """A scheduled call."""

    def cancel(self) -> None:
        """Cancel the call."""


class Clock(Protocol):
    """A clock; times are in seconds."""

    def now(self) -> float:
        """The time since the epoch."""

    def later(self, seconds: float, callback: Callable[[], object]) -> Timer:
        """Call a function at this time in the running event loop."""


class SystemClock:
    """The clock of the machine."""

    def now(self) -> float:
        """The time since the epoch."""
        return time.time()

    def later(self, seconds: float, callback: Callable[[], object]) -> Timer:
        """Call a function through the event loop."""
        return asyncio.get_running_loop().call_later(seconds, callback)


async def done_within(clock: Clock, seconds: float, task: asyncio.Future[Any]) -> bool:
    """Wait for a task, at most this long; returns whether it is done. The task goes on in any case."""
    late = asyncio.get_running_loop().create_future()
    timer = clock.later(seconds, lambda: None if late.done() else late.set_result(None))
    try:
        await asyncio.wait({task, late}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        timer.cancel()
    return task.done()
