"""Gates: they hold a stream or a tool until an event was seen. They replace sleeps."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic

from looptck.values.transcript import (
    Cancelled,
    Chunk,
    ConfirmAsked,
    Ended,
    Event,
    Received,
    ServerEvent,
    ToolBegan,
    ToolEnded,
)

ABSENCE = 0.3
"""Seconds to wait for an event that a correct loop never causes: the only fixed delay apart from watchdogs."""


TURNS = 6
"""Turns of an event loop after which it has read what had arrived."""
MOMENT = 0.05
"""Seconds between two looks at what puts off the end of a wait."""
REST = 0.06
"""Seconds at rest after which an implementation that has all it was sent is assumed to wait for more."""
LOOK = 0.01
"""Seconds between two looks at whether an implementation is at rest."""


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
        while not self._was_in_vain and not self._open.wait(self._look(until, is_over)):
            late = self.not_while is not None and self.not_while()
            until = monotonic() + patience if late else self._prolonged(until, patience)
            self._was_in_vain = monotonic() >= until or (is_over is not None and is_over())
        return self._open.is_set()

    def _look(self, until: float, is_over: Callable[[], bool] | None) -> float:
        """The seconds until the next look at what a wait depends on."""
        left = max(until - monotonic(), 0.0)
        return left if is_over is None else min(left, MOMENT)

    async def wait(self, patience: float, rest: Callable[[], float] | None = None) -> bool:
        """Wait until it is open.

        Args:
            patience: the longest time, in seconds, if the gate has none of its own.
            rest: the seconds for which the implementation has been at rest; None: unknown.

        Returns:
            Whether it opened.
        """
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
            left = until - monotonic()
            try:
                await asyncio.wait_for(event.wait(), left if rest is None else min(left, LOOK))
            except TimeoutError:
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


def caller_has(text: str) -> Gate:
    """Opens when the caller of the loop has received this text (all chunks so far joined)."""
    seen: list[str] = []

    def opens(event: Event) -> bool:
        if isinstance(event, Chunk):
            seen.append(event.text)
        return isinstance(event, Chunk) and text in "".join(seen)

    return Gate(f"the caller has received {text!r}", opens)


def tool_began(tool: str, times: int = 1) -> Gate:
    """Opens when the tool has been started this many times."""
    return _counting(
        f"tool {tool} has started {times} times", times, lambda e: isinstance(e, ToolBegan) and e.tool == tool
    )


def tool_begins_too_early(tool: str) -> Gate:
    """As `tool_began`, if a correct loop does not open the gate."""
    gate = tool_began(tool)
    gate.patience, gate.if_ever = ABSENCE, True
    return gate


def tool_begins_if_ever(tool: str, times: int) -> Gate:
    """As `tool_began`, but with a short patience, for a loop that may begin the tool only after the held stream.

    The patience is kept to its end: a loop that starts calls a moment after each other rests in between.
    """
    gate = tool_began(tool, times)
    gate.patience, gate.of_silence = 2 * ABSENCE, True
    return gate


def tools_began(times: int) -> Gate:
    """Opens when this many tool runs have begun, in all runs that use the gate."""
    return _counting(f"{times} tool runs have begun", times, lambda e: isinstance(e, ToolBegan))


def phase_sent(phase: str, times: int = 1) -> Gate:
    """Opens when a server's client has read this many progress events of a phase."""
    return _counting(
        f"the client has read {phase} {times} times",
        times,
        lambda e: isinstance(e, ServerEvent) and isinstance(e.value, dict) and e.value.get("phase") == phase,
    )


def tool_ended(tool: str, times: int = 1) -> Gate:
    """Opens when the toolbox has answered this many runs of the tool, even if the loop has not read the answer."""
    return _counting(
        f"tool {tool} has ended {times} times", times, lambda e: isinstance(e, ToolEnded) and e.tool == tool
    )


def confirmation_asked(tool: str, times: int = 1) -> Gate:
    """Opens when the confirmation hook has been asked this many times about calls of the tool."""
    return _counting(
        f"the confirmation hook was asked about {tool} {times} times",
        times,
        lambda e: isinstance(e, ConfirmAsked) and tool in {e.call.get("_tool"), e.call.get("name")},
    )


def run_ended(*behind: str) -> Gate:
    """Opens when the caller of the loop has the outcome; with a short patience, as a loop may wait for the held part.

    Args:
        behind: tools that may be held too; the run cannot end while one is running, so that time does not count.
    """
    at_work = 0

    def opens(event: Event) -> bool:
        nonlocal at_work
        if isinstance(event, ToolBegan | ToolEnded) and event.tool in behind:
            at_work += 1 if isinstance(event, ToolBegan) else -1
        return isinstance(event, Ended)

    ended = Gate("the run has ended", opens, patience=3 * ABSENCE, of_silence=True, if_ever=True)
    ended.not_while = lambda: at_work > 0
    return ended


def cancelled_run_ended(*, of_a_tool: bool = False) -> Gate:
    """Opens when the run that is held here has ended, after it was cancelled; the time before that does not count.

    Args:
        of_a_tool: a loop may wait for the tool that is held; so the wait ends once the run is cancelled and the
            implementation is at rest.
    """
    cancelled = False

    def opens(event: Event) -> bool:
        nonlocal cancelled
        cancelled = cancelled or isinstance(event, Cancelled)
        return isinstance(event, Ended)

    gate = Gate("the cancelled run has ended", opens, not_while=lambda: not cancelled)
    if of_a_tool:
        gate.patience, gate.if_ever = 2.0, True
    return gate


def tools_ended(times: int) -> Gate:
    """Opens when this many tool runs have ended."""
    return _counting(f"{times} tool runs have ended", times, lambda e: isinstance(e, ToolEnded))


def opener(gate: Gate) -> Callable[[Event], None]:
    """A watcher that opens a gate of another run at the first model request of its run."""

    def watch(event: Event) -> None:
        if isinstance(event, Received):
            gate.open()

    return watch


def _counting(name: str, times: int, wanted: Callable[[Event], bool]) -> Gate:
    count = 0

    def opens(event: Event) -> bool:
        nonlocal count
        count += wanted(event)
        return count >= times

    return Gate(name, opens)
