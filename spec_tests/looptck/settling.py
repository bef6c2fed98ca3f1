"""The end of a run: when its outcome counts, and when nothing of it can arrive any more.

A loop may hand its outcome to its caller while a tool that it has started is on its way to the toolbox. Whoever looked
at the transcript then would judge a race. So the kit goes on listening until the implementation has been seen idle.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import takewhile

from looptck.drivers import Connection
from looptck.provider.gates import ABSENCE
from looptck.provider.server import Provider
from looptck.provider.stage import Stage
from looptck.transcript import Ended, Stray, ToolEnded, Transcript

LOOK = 0.001
"""Seconds between two looks at an implementation: time for its threads to take their turn."""
LONGEST = 15
"""The longest that a run may take, however much is heard of it, as a multiple of the patience for its silence."""
MOST_STRAYS = 100
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


def _last_sign(transcript: Transcript) -> float:
    """When something was last heard, as the events' ``at``."""
    strays = 0
    last = 0.0
    for event in transcript.events:
        strays += isinstance(event, Stray)
        if not isinstance(event, Stray) or strays <= MOST_STRAYS:
            last = event.at
    return last


def may_go_on(stage: Stage) -> bool:
    """Whether something of a run that has its outcome may still arrive.

    So it is if a tool works, or a call has not run, or a tool has ended since the outcome came: what awaited it may be
    at work now.
    """
    asked = sum(len(turn.calls) for turn in stage.turns.values())
    since = takewhile(lambda event: not isinstance(event, Ended), reversed(stage.transcript.events))
    return bool(stage.tools_at_work) or asked != stage.tool_runs or any(isinstance(event, ToolEnded) for event in since)


def settle(stage: Stage, provider: Provider, connection: Connection, patience: float) -> None:
    """Wait until no tool of the run works and the implementation has been seen idle, at most for this patience.

    Idle is what the system tells of its threads. Where it tells nothing, what has not come within `ABSENCE` is taken
    for what will never come.
    """
    until = time.monotonic() + patience
    heard = len(stage.transcript.events)
    quiet_since = time.monotonic()
    before = connection.pulse()
    while time.monotonic() < until:
        time.sleep(LOOK)
        taken_in = provider.flush()
        now = connection.pulse()
        if len(stage.transcript.events) != heard or stage.tools_at_work or not taken_in:
            heard = len(stage.transcript.events)
            quiet_since = time.monotonic()
        elif now.shows_idle_since(before) if now.known else time.monotonic() - quiet_since >= ABSENCE:
            return
        before = now
