"""Idleness: whether a process, and all that it started, has nothing left to do for now.

Read from the process table of Linux. A thread that waits for time to pass looks idle, and so does one that waits for
the network; what is under way there the provider knows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

_PROCESSES = Path("/proc")
_RUNNING = frozenset("RD")
"""The states of a thread that runs, waits for a processor, or for a disk."""


@dataclass(frozen=True, slots=True)
class Pulse:
    """What the threads of an implementation did up to one moment."""

    known: bool = False
    """Whether the system tells."""
    running: bool = False
    """Whether one of them was at work."""
    turns: dict[int, str] = field(default_factory=dict)
    """How often each had the processor, by the thread's id: equal in two pulses, if none worked between them."""

    def shows_idle_since(self, earlier: Pulse) -> bool:
        """Whether no thread worked between an earlier pulse and this one."""
        return self.known and earlier.known and not self.running and self.turns == earlier.turns


def pulse(pid: int, but: Collection[int] = ()) -> Pulse:
    """The pulse of a process and its descendants; ``but`` are the ids of threads that do not count."""
    if not (_PROCESSES / "self" / "task").is_dir():
        return Pulse()
    turns: dict[int, str] = {}
    running = False
    for thread in _threads(pid):
        id = int(thread.name)
        if id in but:
            continue
        try:
            running = running or _state(thread) in _RUNNING
            turns[id] = (thread / "schedstat").read_text()
        except OSError:  # it has ended meanwhile
            continue
    return Pulse(known=True, running=running, turns=turns)


def _threads(pid: int) -> Iterator[Path]:
    """The folders of all threads of a process and of what it started."""
    try:
        threads = list((_PROCESSES / str(pid) / "task").iterdir())
    except OSError:
        return
    for thread in threads:
        yield thread
        try:
            children = (thread / "children").read_text().split()
        except OSError:
            continue
        for child in children:
            yield from _threads(int(child))


def _state(thread: Path) -> str:
    """The letter behind the name, which stands in brackets and may hold some of its own."""
    return (thread / "stat").read_text(errors="replace").rpartition(")")[2].split()[0]
