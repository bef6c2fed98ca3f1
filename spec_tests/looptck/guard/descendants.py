"""The processes that a command has started, so that none outlives it. Only Linux lists them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

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
        alive = list(_descendants(pid))
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


def _descendants(pid: int) -> Iterator[int]:
    """The processes below a process that are not zombies, the deepest first."""
    for thread in _listed(Path(f"/proc/{pid}/task")):
        with contextlib.suppress(OSError):
            for child in (thread / "children").read_text().split():
                yield from _descendants(int(child))
                if not _is_zombie(int(child)):
                    yield int(child)


def _listed(folder: Path) -> list[Path]:
    with contextlib.suppress(OSError):
        return list(folder.iterdir())
    return []


def _is_zombie(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0] == "Z"
    return True
