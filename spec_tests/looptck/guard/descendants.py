"""The processes that a command has started, so that none outlives it. Only Linux lists them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable

from looptck.guard.process_table import Thread, threads

_SET_PDEATHSIG, _SET_CHILD_SUBREAPER = 1, 36
"""``PR_SET_PDEATHSIG`` and ``PR_SET_CHILD_SUBREAPER`` of Linux's <sys/prctl.h>."""
MOST_ROUNDS = 10
"""How often what is alive is looked for: a process may start another while it is being killed."""


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent has ended."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def dying_with_this_process() -> Callable[[], None] | None:
    """What a new process calls first, so that it is killed when this one ends, however that is: even with its guard.

    The system takes the end of the thread that starts it for that of the process, so only the main thread may do so.
    None: it cannot be had.
    """
    if sys.platform != "linux" or threading.current_thread() is not threading.main_thread():
        return None
    try:
        control = ctypes.CDLL(None).prctl
    except (OSError, AttributeError):
        return None
    parent = os.getpid()

    def dying() -> None:
        control(_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    return dying


def kill_descendants(pid: int) -> None:
    """Kill all that a process has started, and what that has started."""
    for _ in range(MOST_ROUNDS):
        alive = _descendants(pid)
        for one in alive:
            with contextlib.suppress(OSError):
                os.kill(one, signal.SIGKILL)
        _reap(alive)
        if not alive:
            return


def is_stopped(pid: int) -> bool:
    """Whether a child process is stopped, as by SIGSTOP; False where the system does not say."""
    try:
        return os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT) is not None
    except (AttributeError, ChildProcessError):
        return False


def _reap(pids: list[int]) -> None:
    """Take the status of those that are children of this process; others have parents of their own."""
    for pid in pids:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)


def _descendants(pid: int) -> list[int]:
    """The processes below a process that are not zombies."""
    found = {thread.process for thread in threads(pid) if _is_alive(thread)}
    return sorted(found - {pid})


def _is_alive(thread: Thread) -> bool:
    with contextlib.suppress(OSError):
        return thread.state != "Z"
    return False
