"""The end of a run: when its outcome counts, and when nothing of it can arrive any more.

A loop may return its outcome while a tool that it has started is on its way to the toolbox. To judge the transcript at
that moment would be to judge a race, so the kit goes on listening until the implementation has been seen idle.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import takewhile

from looptck.drivers import Connection
from looptck.provider.gates import ABSENCE
from looptck.provider.mock_run import MockRun
from looptck.provider.server import Provider
from looptck.values.transcript import Ended, ToolEnded, Transcript, UnroutedRequest

LOOK = 0.001
"""Seconds between two looks at an implementation: time for its threads to take their turn."""
LONGEST = 15
"""The longest that a run may take, however much is heard of it, as a multiple of the patience for its silence."""
MOST_UNROUTED = 100
"""After so many requests that no route answers, another one is no sign of life."""


def in_time(transcript: Transcript, patience: float, ended: Callable[[float], bool]) -> bool:
    """Wait for the outcome of a run for as long as something is heard of it; whether it came.

    Args:
        transcript: what is heard of the run.
        patience: seconds of silence after which it is given up.
        ended: waits so many seconds for the outcome, and says whether it has come.
    """
    until = transcript.now() + patience * LONGEST
    while True:
        left = min(_last_sign(transcript) + patience, until) - transcript.now()
        if ended(max(left, 0.0)):
            return True
        if transcript.now() >= min(_last_sign(transcript) + patience, until):
            return False


def waited_for(transcript: Transcript, patience: float) -> float:
    """For how long a run was waited for in vain, in seconds: the patience for its silence, or the longest there is."""
    longest = patience * LONGEST
    return longest if transcript.now() >= longest else patience


def _last_sign(transcript: Transcript) -> float:
    """When something was last heard, as the events' ``at``."""
    unrouted = 0
    last = 0.0
    for event in transcript.events:
        unrouted += isinstance(event, UnroutedRequest)
        if not isinstance(event, UnroutedRequest) or unrouted <= MOST_UNROUTED:
            last = event.at
    return last


def may_go_on(mock_run: MockRun) -> bool:
    """Whether something of a run that has its outcome may still arrive.

    So it is if a tool works, or a call has not run, or a tool has ended since the outcome came: what awaited it may be
    at work now.
    """
    asked = sum(len(turn.calls) for turn in mock_run.turns.values())
    since = takewhile(lambda event: not isinstance(event, Ended), reversed(mock_run.transcript.events))
    return (
        bool(mock_run.tools_at_work)
        or asked != mock_run.tool_runs
        or any(isinstance(event, ToolEnded) for event in since)
    )


def settle(mock_run: MockRun, provider: Provider, connection: Connection, patience: float) -> None:
    """Wait until no tool of the run works and the implementation has been seen idle, at most for this patience.

    Idle is read from the operating system's account of its threads. Where there is none, what has
    not come within `ABSENCE` is taken for something that will never come.
    """
    until = time.monotonic() + patience
    heard = len(mock_run.transcript.events)
    quiet_since = time.monotonic()
    before = connection.pulse()
    while time.monotonic() < until:
        time.sleep(LOOK)
        taken_in = provider.flush()
        now = connection.pulse()
        if len(mock_run.transcript.events) != heard or mock_run.tools_at_work or not taken_in:
            heard = len(mock_run.transcript.events)
            quiet_since = time.monotonic()
        elif now.shows_idle_since(before) if now.known else time.monotonic() - quiet_since >= ABSENCE:
            return
        before = now
