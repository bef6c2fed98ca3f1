"""How many processes play if nobody says it."""

from __future__ import annotations

import os

WANTED = "PYTEST_XDIST_AUTO_NUM_WORKERS"
"""The variable in which pytest-xdist looks for the number of processes that ``auto`` stands for; it counts here too."""


def usual() -> int:
    """Two for each core, since each waits at times, mostly for what must not happen; or what the environment says."""
    return said() or 2 * cores()


def said() -> int:
    """The number that the environment wants of pytest-xdist; 0 if it says none."""
    wanted = os.environ.get(WANTED, "")
    return int(wanted) if wanted.isdecimal() else 0


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
