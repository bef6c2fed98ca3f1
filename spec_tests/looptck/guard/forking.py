"""Forks of this process: how they begin, how they are heard, and how they end."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from looptck.guard import interrupts
from looptck.guard.descendants import dying_with_this_process, is_stopped, kill_descendants
from looptck.guard.endings import STOPPED_ITSELF, ending

LOOK = 0.5
"""Seconds between two looks at a fork."""
STOPPING = 10.0
"""Seconds that a fork that is interrupted has to end."""
STOPPED = 40
"""Looks in a row at which a fork may be stopped. One that stops itself would never go on."""
BROKEN = "broken"
"""The key under which a fork sends the traceback of an error of looptck."""


@dataclass(slots=True)
class Fork:
    """A fork, and this process's end of the connection to it."""

    process: BaseProcess
    ours: Connection
    _stopped: int = 0
    """At how many looks in a row it was stopped."""

    def hear(self) -> Any:
        """What it sends next.

        Raises:
            EOFError: it has ended.
            RuntimeError: an error of looptck has ended it; with its traceback.
        """
        try:
            said = self.ours.recv()
        except OSError as error:
            raise EOFError from error
        if isinstance(said, dict) and BROKEN in said:
            raise RuntimeError(said[BROKEN])
        return said

    @property
    def is_silent(self) -> bool:
        """Whether it has ended and all that it has sent was heard. What it has left may keep its connection open."""
        return not self.process.is_alive() and not self.ours.poll()

    def interrupt(self) -> None:
        """Ask it to end."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGINT)

    def look(self) -> None:
        """Kill it if it stays stopped; to be called every `LOOK` seconds."""
        if self._stopped > STOPPED:
            return  # it was killed, and is not stopped any more
        self._stopped = self._stopped + 1 if is_stopped(self.pid) else 0
        if self._stopped > STOPPED:
            self.process.kill()

    @property
    def ending(self) -> str:
        """How it has ended, in words."""
        return STOPPED_ITSELF if self._stopped > STOPPED else ending(self.process.exitcode or 0)

    def end(self, seconds: float = 0) -> int:
        """Wait for its end for some seconds, then kill it and all that it has started; returns its exit status."""
        self.process.join(seconds)
        if self.process.is_alive():
            kill_descendants(self.pid)
            self.process.kill()
            self.process.join()
        self.ours.close()
        return self.process.exitcode or 0

    @property
    def pid(self) -> int:
        """Its id."""
        return self.process.pid or 0


def forked(work: Callable[[Connection], None]) -> Fork:
    """A fork that does some work, given its end of a connection, and ends."""
    fork = multiprocessing.get_context("fork")
    ours, theirs = fork.Pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    process = fork.Process(target=_in_fork, args=(work, dying_with_this_process(), ours, theirs))
    with warnings.catch_warnings():
        # Python 3.12 warns about other threads, which may hold a lock: those of looptck wait for the guard
        warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
        process.start()
    theirs.close()
    return Fork(process, ours)


def _in_fork(
    work: Callable[[Connection], None], dying: Callable[[], None] | None, ours: Connection, theirs: Connection
) -> None:
    gc.freeze()  # the garbage collector would touch, and so copy, the parent's memory
    if dying is not None:
        dying()
    interrupts.once()
    ours.close()
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    try:
        work(theirs)
    except KeyboardInterrupt:
        pass
    except BaseException:  # noqa: BLE001  the parent reports any error
        with suppress(OSError):
            theirs.send({BROKEN: traceback.format_exc()})
    with suppress(ValueError, OSError):  # foreign code may have closed them
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(0)  # an implementation may have left threads that would keep the process alive
