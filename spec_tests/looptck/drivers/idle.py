"""Idleness: whether a process and its descendants are waiting.

Idleness is read from the process table of Linux. A sleeping thread looks idle, and so does one that waits for the
network; the provider knows which network traffic is in progress. What a process has written may not have been read yet
on a busy machine, so the thread that reads it counts as one of the process.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import field
from itertools import chain
from time import monotonic

from looptck.guard.process_table import Thread, is_known, threads
from looptck.values.frozen import dataclass

_RUNNING = frozenset("RD")
"""The states of a thread that runs, waits for a processor, or for a disk."""


@dataclass(frozen=True, slots=True)
class Pulse:
    """The activity of an implementation's threads up to one moment."""

    known: bool = False
    """Whether the system provides this information."""
    running: bool = False
    """Whether a thread was running."""
    turns: dict[int, bytes] = field(default_factory=dict)
    """The scheduler statistics of each thread, by its id: equal in two pulses if no thread ran between them."""

    def shows_idle_since(self, earlier: Pulse) -> bool:
        """Whether no thread ran between an earlier pulse and this one."""
        return self.known and earlier.known and not self.running and self.turns == earlier.turns

    def starved_since(self, earlier: Pulse) -> float:
        """The seconds that threads have waited for a processor since an earlier pulse, all together; 0 if unknown."""
        waits = ((_waits(turns), _waits(earlier.turns.get(id, b""))) for id, turns in self.turns.items())
        return sum(max(now - before, 0) for now, before in waits) / 1e9


def _waits(turns: bytes) -> int:
    """The nanoseconds that a thread was ready to run and did not: the second number of its scheduler statistics."""
    numbers = turns.split()
    return int(numbers[1]) if len(numbers) > 1 else 0


LONGEST = 15
"""The longest that anything is waited for, as a multiple of the time that it has if it gets a processor."""


def served(seconds: float, done: Callable[[float], bool], look: Callable[[], Pulse]) -> bool:
    """Wait until something is done, or has not been done in a time; waiting for a processor is none of that time.

    Args:
        seconds: the time.
        done: waits for some seconds, and returns whether it is done.
        look: looks at what has to do it.
    """
    until, left = monotonic() + seconds * LONGEST, seconds
    while left > 0:
        began, before = monotonic(), look()
        if done(min(left, until - began)):
            return True
        now = monotonic()
        left = min(left - (now - began) + min(look().starved_since(before), now - began), until - now)
        if left < seconds * ENOUGH:
            return False
    return False


class Spent:
    """The time since it was made, in seconds, without that in which an implementation waited for a processor."""

    def __init__(self, look: Callable[[], Pulse], now: Callable[[], float] = monotonic) -> None:
        self._look = look
        self._now = now
        self._last = look()
        self._at = now()
        self._spent = 0.0

    def __call__(self) -> float:
        """Look, and add what was spent since the last look."""
        before, self._last = self._last, self._look()
        at, self._at = self._at, self._now()
        passed = self._at - at
        self._spent += passed - min(self._last.starved_since(before), passed)
        return self._spent


ENOUGH = 0.05
"""The share of a time that is not waited for any more."""
RECENT = 0.2
"""Seconds after which an earlier look says nothing of the present."""
STIRS = 3
"""How often in a row an implementation is taken to be at work only because it has run: some never rest."""


class AtWork:
    """Whether an implementation is at work: a thread runs or waits for a processor, or has run since a look just now.

    A thread that waits for an answer on a busy machine may be found asleep again and again, although it is not idle.
    """

    def __init__(self, look: Callable[[], Pulse], now: Callable[[], float] = monotonic) -> None:
        self._look = look
        self._now = now
        self._last = Pulse()
        self._at = -RECENT
        self._stirs = 0

    def __call__(self) -> bool:
        """Look, and compare with the last look if that was recent."""
        before, at = self._last, self._at
        self._last, self._at = self._look(), self._now()
        if self._last.running:
            self._stirs = 0
            return True
        if not before.known or self._at - at >= RECENT:
            return False
        self._stirs = 0 if self._last.shows_idle_since(before) else self._stirs + 1
        return 0 < self._stirs <= STIRS


SEEN = 0.02
"""The most seconds of rest that one look can show: while the whole machine stood still, nothing ran either."""


class Rest:
    """For how long an implementation has been at rest: no thread has run between two looks."""

    def __init__(self, look: Callable[[], Pulse], now: Callable[[], float] = monotonic) -> None:
        self._look = look
        self._now = now
        self._last = Pulse()
        self._at = now()
        self._rested = 0.0

    def __call__(self) -> float:
        """Look; the seconds at rest since a look showed a thread at work, of those seen; 0 if that is unknown."""
        before, self._last = self._last, self._look()
        at, self._at = self._at, self._now()
        self._rested = self._rested + min(self._at - at, SEEN) if self._last.shows_idle_since(before) else 0.0
        return self._rested


def pulse(pid: int, but: Collection[int] = (), also: Collection[int] = ()) -> Pulse:
    """The pulse of a process and its descendants.

    Args:
        pid: the process.
        but: the ids of its threads that are ignored.
        also: the ids of threads of this process that belong to it: those that take in what it writes.
    """
    if not is_known():
        return Pulse()
    turns: dict[int, bytes] = {}
    running = False
    for thread in chain(threads(pid), (Thread(os.getpid(), id) for id in also)):
        if thread.id in but:
            continue
        try:
            running = running or thread.state in _RUNNING
            turns[thread.id] = thread.read("schedstat")
        except OSError:  # it has ended meanwhile
            continue
    return Pulse(known=True, running=running, turns=turns)
