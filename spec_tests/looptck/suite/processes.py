"""How many processes play if nobody says it."""

from __future__ import annotations

import os

WANTED = "PYTEST_XDIST_AUTO_NUM_WORKERS"
"""The variable in which pytest-xdist, which starts the processes, looks for the number that ``auto`` stands for."""


def usual() -> int:
    """One for each core, or the number that the environment wants of pytest-xdist."""
    wanted = os.environ.get(WANTED, "")
    if wanted.isdecimal() and int(wanted):
        return int(wanted)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
