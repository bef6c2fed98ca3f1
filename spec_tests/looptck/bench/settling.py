"""The end of a run: how long to wait for its outcome, and when no further event of it can arrive.

A loop may return its outcome while a tool call is still on its way to the toolbox. A verdict at that moment would
depend on a race, so looptck keeps listening until it has seen the implementation idle.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from itertools import takewhile

from looptck.drivers.idle import ENOUGH, LONGEST, Pulse, Rest
from looptck.provider import gate
from looptck.provider.gates import ABSENCE
from looptck.provider.mock_run import MockRun
from looptck.provider.server import Provider
from looptck.values.transcript import Ended, ToolEnded, Transcript, UnroutedRequest

LOOK = 0.001
"""Seconds between two looks at an implementation, so that its threads can run."""
SHORT = 0.1
"""The share of the patience after which it is looked whether an implementation stands still."""
EACH = 0.02
"""The share of the patience between two such looks."""
MOST_UNROUTED = 100
"""After this number of requests to unknown routes, a further one does not count as a sign of life."""


def in_time(
    transcript: Transcript,
    patience: float,
    ended: Callable[[float], bool],
    beside: Callable[[], Iterable[Transcript]],
    look: Callable[[], Pulse] = Pulse,
    stands_still: Callable[[], bool] = lambda: False,
) -> bool:
    """Wait for the outcome of a run as long as it, or a run beside it, causes events; returns whether it came.

    One that stands still is waited for `SHORT` of the time only: nothing will wake it.

    Args:
        transcript: the events of the run.
        patience: seconds without an event after which the run has hung.
        ended: waits this number of seconds for the outcome, and returns whether it has come.
        beside: the events of all open runs: one of a crowd on a slow machine may have to wait for the others.
        look: looks at all that takes part, again and again, as some of it may live for a moment only. While it waits
            for a processor, it is not silent: it may not speak.
        stands_still: looks whether the implementation has come to a standstill.
    """
    until = transcript.now() + patience * LONGEST
    begun = transcript.handed_over

    def over() -> float:
        signs = (_last_sign(one) + one.started - transcript.started for one in beside())
        return min(max(_last_sign(transcript), *signs, begun) + patience, until)

    while True:
        if ended(max(over() - transcript.now() - patience * (1 - SHORT), 0.0)):
            return True
        starved, at, before = 0.0, transcript.now(), look()
        while (left := over() - transcript.now()) > 0:
            if ended(min(left, patience * EACH)):
                return True
            then, earlier, at, before = at, before, transcript.now(), look()
            starved += min(before.starved_since(earlier), at - then)
            if over() - transcript.now() <= patience * (1 - SHORT) and stands_still():
                return False
        now = transcript.now()
        if now >= over():
            if now >= until or starved < patience * ENOUGH:
                return False
            begun = now - patience + starved


def waited_for(transcript: Transcript, patience: float) -> float:
    """The seconds that a hung run was waited for: the patience for its silence, or the longest time for a run."""
    longest = patience * LONGEST
    return longest if transcript.now() >= longest else patience


def _last_sign(transcript: Transcript) -> float:
    """The time of the last event that counts, as its ``at``."""
    if transcript.events and not isinstance(transcript.events[-1], UnroutedRequest):
        return transcript.events[-1].at
    unrouted = 0
    last = 0.0
    for event in transcript.events:
        unrouted += isinstance(event, UnroutedRequest)
        if not isinstance(event, UnroutedRequest) or unrouted <= MOST_UNROUTED:
            last = event.at
    return last


def come_to_rest(look: Callable[[], Pulse], most: float) -> None:
    """Wait until an implementation has rested for `gate.REST` seconds: it has done all that it was going to do.

    Args:
        look: looks at its threads, and not at the one that waits here.
        most: the longest time, in seconds; some implementations never rest.
    """
    until, rest = time.monotonic() + most, Rest(look)
    while rest() < gate.REST and time.monotonic() < until:
        time.sleep(gate.LOOK)


def may_go_on(mock_run: MockRun) -> bool:
    """Whether further events of a run with an outcome may still arrive.

    This is so if a tool is running, a call has not run, or a tool has ended since the outcome: the code that awaited
    the tool may be running now.
    """
    asked = sum(len(turn.calls) for turn in mock_run.turns.values())
    since = takewhile(lambda event: not isinstance(event, Ended), reversed(mock_run.transcript.events))
    return (
        bool(mock_run.tools_at_work)
        or asked != mock_run.tool_runs
        or any(isinstance(event, ToolEnded) for event in since)
    )


def settle(mock_run: MockRun, provider: Provider, look: Callable[[], Pulse], patience: float) -> None:
    """Wait until no tool of the run is running and the implementation is idle, at most ``patience`` seconds.

    Idleness is read from the operating system's thread states, as ``look`` tells. Where they are unknown, an event that
    has not come within `ABSENCE` is assumed never to come.
    """
    until = time.monotonic() + patience
    heard = len(mock_run.transcript.events)
    quiet_since = time.monotonic()
    before = look()
    while time.monotonic() < until:
        time.sleep(LOOK)
        taken_in = provider.flush()
        now = look()
        if len(mock_run.transcript.events) != heard or mock_run.tools_at_work or not taken_in:
            heard = len(mock_run.transcript.events)
            quiet_since = time.monotonic()
        elif now.shows_idle_since(before) if now.known else time.monotonic() - quiet_since >= ABSENCE:
            return
        before = now
