"""The processes of a program: all that live under its scratch HOME, whatever process group or session they are in.

A daemon leaves its process group and its parent, but it keeps the environment it was started with. Only Linux shows it.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

from looptck.guard.process_table import PROCESSES, main_thread

MOST_ROUNDS = 20
"""How often what is alive is looked for: a process may start another while it is being killed."""
DYING = 5.0
"""Seconds that a killed process is waited for, all rounds together: it takes a moment to be gone."""


def members(home: Path) -> list[int]:
    """The ids of the processes with this HOME that are alive."""
    mark = b"HOME=" + os.fsencode(home)
    return sorted(pid for pid in _all() if mark in _environment(pid) and _is_alive(pid))


def described(pid: int) -> str:
    """The command line of a process, or its name."""
    with contextlib.suppress(OSError):
        words = (PROCESSES / str(pid) / "cmdline").read_bytes().rstrip(b"\0").split(b"\0")
        return b" ".join(words).decode(errors="replace")[:200]
    return f"process {pid}"


def memory(pids: list[int]) -> int:
    """The resident memory of processes, in bytes."""
    page = os.sysconf("SC_PAGE_SIZE")
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError, ValueError, IndexError):
            total += int((PROCESSES / str(pid) / "statm").read_text().split()[1]) * page
    return total


def end(home: Path) -> None:
    """Kill all processes with this HOME, and what they start meanwhile; wait until they are gone."""
    until = monotonic() + DYING
    for _ in range(MOST_ROUNDS):
        alive = members(home)
        for pid in alive:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        for pid in alive:
            _wait_for(pid, max(until - monotonic(), 0.0))
        if not alive:
            return


def _wait_for(pid: int, seconds: float) -> None:
    """Wait until a process has ended, where the system can tell."""
    with contextlib.suppress(OSError):
        end = os.pidfd_open(pid)
        try:
            select.select([end], [], [], seconds)
        finally:
            os.close(end)


def _all() -> Iterator[int]:
    own = os.getpid()
    names = [path.name for path in PROCESSES.iterdir()] if PROCESSES.is_dir() else []
    yield from (int(name) for name in names if name.isdecimal() and int(name) != own)


def _environment(pid: int) -> tuple[bytes, ...]:
    try:
        return tuple((PROCESSES / str(pid) / "environ").read_bytes().split(b"\0"))
    except OSError:  # it has ended, or belongs to somebody else
        return ()


def _is_alive(pid: int) -> bool:
    with contextlib.suppress(OSError, IndexError):
        return main_thread(pid).state not in "ZX"
    return False
