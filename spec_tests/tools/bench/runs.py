"""Measures whole commands: the first verdict, the two sizes of a run, and what several processes gain.

The CPU time of a command is that of all its processes, guard, workers and drivers included. It is given as a multiple
of what importing pytest, httpx and hypothesis takes, which any Python project with tests pays.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from dataclasses import dataclass
from statistics import median
from time import perf_counter

REPEATS = 5
LOOPTCK = [sys.executable, "-m", "looptck.cli"]
IMPORTS = [sys.executable, "-c", "import pytest, httpx, hypothesis"]
ONE = [
    "run",
    "-q",
    "--cell",
    "openai-chat/plain/sync",
    "--requirement",
    "call-runs-its-tool-once",
    "--case",
    "one-call",
]
SMALL = {
    "run, one check": ONE,
    "run, one check of a small loop": [*ONE, "--driver", "python:tools.bench.small:Driver"],
    "smoke": ["smoke", "--driver", "python:looptck_reference.kit.driver:Driver"],
    "list": ["list"],
    "explain": ["explain", "call-runs-its-tool-once"],
}
WHOLE = {
    "common, one process": ["-j", "1"],
    "common": [],
    "common, workers of pytest-xdist": ["--tx", "2*popen"],
    "thorough": ["--thorough"],
}


@dataclass(frozen=True, slots=True)
class Taken:
    """What a command took, in seconds."""

    wall: float
    cpu: float


def taken(command: list[str]) -> Taken:
    """Run a command. Raises CalledProcessError if it does not succeed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    wall = perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Taken(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def main() -> None:
    """Measure and print."""
    rounds = [
        {name: taken(LOOPTCK + words) for name, words in SMALL.items()} | {"": taken(IMPORTS)} for _ in range(REPEATS)
    ]
    for name in SMALL:
        ratio = median(one[name].cpu / one[""].cpu for one in rounds)
        wall, cpu = (median(getattr(one[name], what) for one in rounds) for what in ("wall", "cpu"))
        print(f"{name}: {wall:.2f} s, {cpu:.2f} s of CPU, {ratio:.2f} times the imports alone")
    alone = None
    for name, words in WHOLE.items():
        one = taken([*LOOPTCK, "run", "-q", *words])
        alone = alone or one
        print(f"{name}: {one.wall:.1f} s, {one.cpu:.1f} s of CPU, {one.wall / alone.wall:.2f} times the first")
