"""Time, as a server has it: what it is, and what happens later. Tests have a clock of their own."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, Protocol

__all__ = ["Clock", "SystemClock", "Timer", "done_within"]


class Timer(Protocol):
    """Something that is going to happen."""

    def cancel(self) -> None:
        """Let it not happen."""


class Clock(Protocol):
    """Times are seconds."""

    def now(self) -> float:
        """Since the epoch."""

    def later(self, seconds: float, callback: Callable[[], object]) -> Timer:
        """Call a function of the running event loop then."""


class SystemClock:
    """The clock of the machine."""

    def now(self) -> float:
        """Since the epoch."""
        return time.time()

    def later(self, seconds: float, callback: Callable[[], object]) -> Timer:
        """The event loop's own."""
        return asyncio.get_running_loop().call_later(seconds, callback)


async def done_within(clock: Clock, seconds: float, task: asyncio.Future[Any]) -> bool:
    """Wait for a task, no longer than this; whether it is done. It goes on in any case."""
    late = asyncio.get_running_loop().create_future()
    timer = clock.later(seconds, lambda: None if late.done() else late.set_result(None))
    try:
        await asyncio.wait({task, late}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        timer.cancel()
    return task.done()
