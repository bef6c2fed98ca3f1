"""Which of a run's wrong events is behind a verdict: the first one that its reason can come from.

The model is scripted. So a request that lacks a part of the prompt, or a thought, changes nothing of what comes later,
if the service accepts it: it is behind the verdicts about requests, and any other verdict has a cause of its own.
"""

from __future__ import annotations

import re

from looptck.bench.run import Run
from looptck.failures.signs import Sign, first_difference, wrong_events
from looptck.values.transcript import Event, Received

_BOUND = frozenset({"call", "result", "results"})
"""The parts of a history that depend on what the loop did: a result is missing where no tool ran."""
_OF_REQUESTS = re.compile(
    r"\brequest \d+ (?!never )|\bthe (?:\w+ )?request\b|\bat /\w|\b(?:says|messages?|history|carr(?:y|ies))\b"
)
"""What reasons about the content of requests have in common."""


def wrong_behind(run: Run, reason: str) -> tuple[Event, Sign] | None:
    """The first wrong event that a reason can come from, with its sign; None if the run has none."""
    return next(((event, sign) for event, sign in wrong_events(run) if _explains(event, sign, run, reason)), None)


def is_behind(run: Run, reason: str) -> bool:
    """Whether a reason can come from the first wrong event of a run, if there is one."""
    return all(_explains(event, sign, run, reason) for event, sign in wrong_events(run)[:1])


def _explains(event: Event, sign: Sign, run: Run, reason: str) -> bool:
    if sign[0] != "history" or sign[1] in _BOUND or not isinstance(event, Received):
        return True
    if event.problems:
        return sign[1] != "the prompt" or _is_refused_there(event, run)
    return _OF_REQUESTS.search(reason) is not None


def _is_refused_there(event: Received, run: Run) -> bool:
    """Whether the service refuses a request at the place where it differs from the history."""
    found = first_difference(run)
    if found is None:
        return False
    one, other = (f"{pointer}/" for pointer in (event.problems[0].pointer, found[1].pointer))
    return one.startswith(other) or other.startswith(one)
