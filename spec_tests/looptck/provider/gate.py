"""A gate: it holds a stream or a tool until an event was seen. Gates replace sleeps."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic

from looptck.values.transcript import Event

TURNS = 6
"""Turns of an event loop after which it has read what had arrived."""
MOMENT = 0.05
"""Seconds between two looks at the time, and at what puts off the end of a wait."""
REST = 0.06
"""Seconds at rest after which an implementation that has all it was sent is assumed to wait for more."""
LOOK = 0.01
"""Seconds between two looks at whether an implementation is at rest."""
BREATH = 0.005
"""Seconds at rest after which an implementation has taken in what it was sent."""
LONGEST_BREATH = 0.15
"""Seconds after which it is not waited for any longer: some never rest, and of some that is unknown."""


@dataclass(eq=False)
class Gate:
    """Opens once, from any thread, and stays open. ``name`` describes the awaited event.

    Once it has been waited for in vain, it holds nothing any more: the run has shown what the gate was to show.
    """

    name: str
    opens_on: Callable[[Event], bool] | None = None
    """The event of a watched run that opens it; None: only ``open`` does."""
    patience: float | None = None
    """Seconds to wait for it instead of the run's patience; short if a correct loop does not open it."""
    of_silence: bool = False
    """Whether the seconds count from the last event of the watched run, and not from the beginning of the wait."""
    if_ever: bool = False
    """Whether a right loop may never cause the event: the wait ends sooner where the implementation is at rest."""
    taken_in: bool = False
    """Whether what waits goes on only when the implementation, at rest again, has taken in what opened the gate.

    Answers that arrive together are read in any order.
    """
    not_while: Callable[[], bool] | None = None
    """While this returns true the seconds do not count: the awaited event cannot happen yet."""
    _reached: threading.Event = field(default_factory=threading.Event, repr=False)
    _heard: float = 0.0
    _was_in_vain: bool = False
    _open: threading.Event = field(default_factory=threading.Event, repr=False)
    _waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = field(default_factory=list, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _watching: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def is_open(self) -> bool:
        return self._open.is_set()

    def watch(self, event: Event) -> None:
        """Open if this is the awaited event."""
        self._heard = monotonic()
        if self.opens_on is None or self._open.is_set():
            return
        with self._watching:  # events come from several threads, and `opens_on` may count them
            opens = self.opens_on(event)
        if opens:
            self.open()

    def open(self) -> None:
        with self._lock:
            self._open.set()
            waiting, self._waiting = self._waiting, []
        for loop, event in waiting:
            loop.call_soon_threadsafe(event.set)

    def reached(self, patience: float, is_over: Callable[[], bool]) -> bool:
        """Wait until something waits here, that is, until the run has come to this place; whether it has.

        Args:
            patience: the longest time, in seconds.
            is_over: whether the run has ended, so that it will not come here.
        """
        until = monotonic() + patience
        while not self._reached.wait(min(MOMENT, max(until - monotonic(), 0.0))):
            if is_over() or monotonic() >= until:
                break
        return self._reached.is_set()

    def wait_here(self, patience: float, is_over: Callable[[], bool] | None = None) -> bool:
        """As `wait`, for the thread of a check; the wait ends where ``is_over`` says that the run has ended."""
        if self._was_in_vain:
            return self._open.is_set()
        patience = self.patience or patience
        until = monotonic() + patience
        while not self._was_in_vain:
            began = monotonic()
            left = max(min(until - began, MOMENT), 0.0)
            if self._open.wait(left):
                break
            until += _overslept(began, left)
            late = self.not_while is not None and self.not_while()
            until = monotonic() + patience if late else self._prolonged(until, patience)
            self._was_in_vain = monotonic() >= until or (is_over is not None and is_over())
        return self._open.is_set()

    async def wait(self, patience: float, rest: Callable[[], float] | None = None) -> bool:
        """Wait until it is open.

        Args:
            patience: the longest time, in seconds, if the gate has none of its own.
            rest: the seconds for which the implementation has been at rest; None: unknown.

        Returns:
            Whether it opened.
        """
        opened = await self._waited(patience, rest)
        if opened and self.taken_in:
            await _breath(rest)
        return opened

    async def _waited(self, patience: float, rest: Callable[[], float] | None) -> bool:
        self._reached.set()
        event = asyncio.Event()
        waiter = (asyncio.get_running_loop(), event)
        with self._lock:
            if self._open.is_set() or self._was_in_vain:
                return self._open.is_set()
            self._waiting.append(waiter)
        try:
            opened = await self._opens(event, self.patience or patience, rest if self.if_ever else None)
            self._was_in_vain = not opened
            return opened
        finally:  # opening it later must not call into an event loop that may be closed by then
            with self._lock:
                self._waiting = [one for one in self._waiting if one is not waiter]

    async def _opens(self, event: asyncio.Event, patience: float, rest: Callable[[], float] | None) -> bool:
        self._heard = monotonic()
        until = self._heard + patience
        while True:
            began = monotonic()
            left = max(min(until - began, MOMENT if rest is None else LOOK), 0.0)
            try:
                await asyncio.wait_for(event.wait(), left)
            except TimeoutError:
                overslept = _overslept(began, left)
                until, self._heard = until + overslept, self._heard + overslept
                rested = rest is not None and monotonic() < until and self._has_rested(rest)
                if monotonic() < until and not rested:
                    continue
                late = await self._looked_again()
                if self._open.is_set():
                    return True
                if rested and not late:
                    return False
                until = monotonic() + patience if late else self._prolonged(until, patience)
                if monotonic() >= until:
                    return False
            else:
                return True

    def _has_rested(self, rest: Callable[[], float]) -> bool:
        """Whether nothing has happened for `REST` seconds in which the awaited event could have happened."""
        if min(rest(), monotonic() - self._heard) < REST:
            return False
        if self.not_while is None or not self.not_while():
            return True
        self._heard = monotonic()
        return False

    async def _looked_again(self) -> bool:
        """Let the event loop take in what has arrived; whether `not_while` holds now or in a moment."""
        if self.not_while is None:
            for _ in range(TURNS):
                await asyncio.sleep(0)
            return False
        holds = self.not_while()
        await asyncio.sleep(MOMENT)
        return holds or self.not_while()

    def _prolonged(self, until: float, patience: float) -> float:
        """The end of a wait that was to end at this time, unless the awaited event cannot happen yet."""
        return max(self._heard + patience, until) if self.of_silence else until


async def _breath(rest: Callable[[], float] | None) -> None:
    """Wait until the implementation has rested for a moment; where that is unknown, for the longer rest."""
    until = monotonic() + (REST if rest is None else LONGEST_BREATH)
    while monotonic() < until:
        await asyncio.sleep(BREATH / 2)
        if rest is not None and rest() >= BREATH:
            return


def _overslept(since: float, seconds: float) -> float:
    """The seconds by which a wait of so many took longer: they count for nothing.

    The machine stood still, or it was busy; the implementation may not have run either.
    """
    return max(monotonic() - since - seconds, 0.0)
