"""Idleness: whether a process and its descendants are waiting.

Idleness is read from the process table of Linux. A sleeping thread looks idle, and so does one that waits for the
network; the provider knows which network traffic is in progress.
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
    """The activity of an implementation's threads up to one moment."""

    known: bool = False
    """Whether the system provides this information."""
    running: bool = False
    """Whether a thread was running."""
    turns: dict[int, str] = field(default_factory=dict)
    """The scheduler statistics of each thread, by its id: equal in two pulses if no thread ran between them."""

    def shows_idle_since(self, earlier: Pulse) -> bool:
        """Whether no thread ran between an earlier pulse and this one."""
        return self.known and earlier.known and not self.running and self.turns == earlier.turns


def pulse(pid: int, but: Collection[int] = ()) -> Pulse:
    """The pulse of a process and its descendants; ``but`` are the ids of ignored threads."""
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
    """The folders of all threads of a process and its descendants."""
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
    """The letter after the name, which is in brackets and may contain brackets."""
    return (thread / "stat").read_text(errors="replace").rpartition(")")[2].split()[0]
