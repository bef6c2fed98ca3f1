"""The cancellation of a synchronous run, from another thread.

A thread that waits cannot be stopped, so each wait ends instead: a connection is shut down, which ends the read from
it, and tools run in threads that can be left.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, InvalidStateError, wait
from contextvars import copy_context
from functools import partial
from typing import Any, TypeVar

__all__ = ["Cancellation"]

Result = TypeVar("Result")

CONNECTED = frozenset({"connection.connect_tcp.complete", "connection.start_tls.complete"})
"""The events of httpcore whose value is a new connection."""


class Cancellation:
    """Cancels one run, at any time and from any thread; every later use has no effect."""

    def __init__(self) -> None:
        self._asked: Future[None] = Future()

    def __bool__(self) -> bool:
        """Whether the run is cancelled."""
        return self._asked.done()

    def cancel(self) -> None:
        """Cancel the run: its requests end, and it starts no further request and no further tool."""
        with contextlib.suppress(InvalidStateError):
            self._asked.set_result(None)

    def trace(self, event: str, info: dict[str, Any]) -> None:
        """Follow a request, as its httpx extension `trace`: its connection is shut down when the run is cancelled."""
        if event in CONNECTED:
            end = info["return_value"].get_extra_info("socket")
            self._asked.add_done_callback(partial(_shut, end))

    def results(self, works: Sequence[Callable[[], Result]]) -> list[Future[Result]]:
        """Run functions at the same time, each in a thread with a copy of the caller's context.

        Returns when all of them have ended or when the run is cancelled. Those that have not ended then are left: their
        threads end by themselves, and not later than the process.
        """
        results = [_begun(work) for work in works]
        while not self and (left := [result for result in results if not result.done()]):
            awaited: list[Future[Any]] = [*left, self._asked]
            wait(awaited, return_when=FIRST_COMPLETED)
        return results


def _begun(work: Callable[[], Result]) -> Future[Result]:
    future: Future[Result] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is asked for
            future.set_exception(error)

    threading.Thread(target=copy_context().run, args=(run,), name="looptck tool", daemon=True).start()
    return future


def _shut(end: socket.socket, _: object) -> None:
    """Shut a connection down, unless it is closed already; a thread that reads from it then reads its end."""
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
