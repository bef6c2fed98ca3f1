"""The processes that a command has started, so that none outlives it. Only Linux lists them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

PROCESSES = Path("/proc")
_SET_CHILD_SUBREAPER = 36
"""``PR_SET_CHILD_SUBREAPER`` of Linux's <sys/prctl.h>."""
MOST_ROUNDS = 10
"""How often what is alive is looked for: a process may start another while it is being killed."""


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent has ended."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


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


def _reap(pids: list[int]) -> None:
    """Take the status of those that are children of this process; others have parents of their own."""
    for pid in pids:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)


def _descendants(pid: int) -> list[int]:
    """The processes below a process that are not zombies."""
    found = {int(thread.parent.parent.name) for thread in threads(pid) if _is_alive(thread)}
    return sorted(found - {pid})


def threads(pid: int) -> Iterator[Path]:
    """The folders of all threads of a process and its descendants, below ``/proc``."""
    try:
        own = list((PROCESSES / str(pid) / "task").iterdir())
    except OSError:
        return
    for thread in own:
        yield thread
        try:
            children = (thread / "children").read_text().split()
        except OSError:
            continue
        for child in children:
            yield from threads(int(child))


def state(thread: Path) -> str:
    """The letter of a thread's state, which is behind its name; that is in brackets and may contain brackets."""
    return (thread / "stat").read_text(errors="replace").rpartition(")")[2].split()[0]


def _is_alive(thread: Path) -> bool:
    with contextlib.suppress(OSError):
        return state(thread) != "Z"
    return False
