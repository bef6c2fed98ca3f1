"""The runs that the kit may cancel, each with the way to cancel it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["Cancels", "cancelling_task"]


class Cancels:
    """Functions that cancel the runs under way, by the ids of their cases; used by any thread."""

    def __init__(self) -> None:
        self._by_id: dict[str, Callable[[], object]] = {}

    @contextmanager
    def during(self, id: str | None, cancel: Callable[[], object]) -> Iterator[None]:
        """The run with this id is under way, and this function cancels it; without an id nothing can."""
        if id is None:
            yield
            return
        self._by_id[id] = cancel
        try:
            yield
        finally:
            del self._by_id[id]

    def cancel(self, id: str) -> None:
        """Cancel the run with this id, if it is still under way."""
        self._by_id.get(id, lambda: None)()


def cancelling_task() -> Callable[[], object]:
    """A function that cancels the current task, from any thread."""
    task = asyncio.current_task()
    assert task is not None
    loop = task.get_loop()
    return lambda: loop.call_soon_threadsafe(task.cancel)
