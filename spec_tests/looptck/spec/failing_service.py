"""A service that fails every request, and still ends the runs of loops that wait longer and longer."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from itertools import pairwise

from looptck.bench.checks import Implementation, Liveness
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.provider.faults import HttpError
from looptck.provider.script import Step
from looptck.values.outcome import Nothing, Value
from looptck.values.plain import times
from looptck.values.transcript import Ended, Replied
from looptck.values.turns import Turn, says
from looptck.values.verdicts import NotApplicable

LONG = 15.0
"""Seconds between the first error and the last request, after which a loop with growing waits gets an answer."""
FEWEST = 5
"""The number of requests after which growing waits can be recognised."""
GROWN = 2.0
"""The factor by which the later half of the waits exceeds the earlier half if waits grow."""

SOON = (("retry-after-ms", "5"), ("retry-after", "0"))
"""Headers that keep retrying loops from waiting: the services' own, in milliseconds, and the standard one."""
BUSY = frozenset({429, 503, 529})
"""The statuses by which a service asks for patience; some loops then wait for a minute."""
ITS_OWN_CHOICE = "and how long it backs off is its own choice"
SAYING = HttpError(0).message
BODIES = {
    "text": SAYING,
    "empty": "",
    "detail": json.dumps({"detail": SAYING}),
    "string": json.dumps({"error": SAYING}),
    "message": json.dumps({"object": "error", "message": SAYING, "code": 400}),
}
"""Bodies of errors as compatible servers, frameworks for servers and proxies write them."""
PATIENT = 12
"""More requests than any loop sends that counts its attempts: the most patient loops in use try ten times. From here on
the service names no time, so that a loop that asks when it is told to, and gives up after a time, waits by itself."""
MOST = 24
"""More requests than any loop sends that ever gives up, and waits where it is told nothing."""


@dataclass(slots=True)
class FailingService:
    """The reply to each request: the fault, and in the end an answer for a loop with growing waits.

    How long a loop backs off is its own choice. A loop whose waits do not grow gets the fault however slow the machine
    is, so an endless loop is recognised by the number of its requests alone.
    """

    fault: Step | HttpError
    clock: Callable[[], float] = time.monotonic
    answered: bool = False
    """Whether the loop was given an answer in the end."""
    arrivals: list[float] = field(default_factory=list)

    def __call__(self, _: int) -> Step | HttpError | Turn:
        """The reply to a request that has just arrived."""
        self.arrivals.append(self.clock())
        self.answered = self.answered or (self.arrivals[-1] - self.arrivals[0] > LONG and waits_grow(self.arrivals))
        return says("At last.") if self.answered else self._fault()

    def _fault(self) -> Step | HttpError:
        fault, late = self.fault, len(self.arrivals) > PATIENT
        if late and isinstance(fault, HttpError) and fault.headers == SOON and _may_pass(fault):
            return replace(fault, headers=())
        return fault


def _may_pass(fault: Step | HttpError) -> bool:
    """Whether a loop may ask again, as the fault may be gone then."""
    return isinstance(fault, HttpError) and (fault.status >= 500 or fault.status in {408, 409, 429})


def _is_patience(fault: Step | HttpError, run: Run, asked: int) -> bool:
    """Whether a run without an outcome waits: the service is busy, or has stopped to name a time."""
    invited = isinstance(fault, HttpError) and (fault.status in BUSY or (asked > PATIENT and _may_pass(fault)))
    return invited and waits_for_a_while(run)


def waits_grow(arrivals: list[float]) -> bool:
    """Whether the waits between requests with these arrival times, in seconds, grow."""
    if len(arrivals) < FEWEST:
        return False
    waits = [later - earlier for earlier, later in pairwise(arrivals)]
    half = len(waits) // 2
    return sum(waits[-half:]) > GROWN * sum(waits[:half])


def always_failing(scenario: Scenario, implementation: Implementation, fault: Step | HttpError, *before: object) -> Run:
    """The run of a loop whose service answers every request so, after these steps.

    Raises:
        NotApplicable: the loop asks again and again with growing waits, or waits for long because the service is busy.
    """
    errs = FailingService(fault)
    scenario.plays(*before)
    scenario.always(errs, most=len(before) + MOST)

    try:
        run = implementation.run()
    except Liveness:
        run = implementation.runs[-1]
        if isinstance(fault, HttpError) and _is_patience(fault, run, len(run.requests) - len(before)):
            raise NotApplicable(f"the loop waits for long after the status {fault.status}, {ITS_OWN_CHOICE}") from None
        raise

    run.replied(len(before) + 1)
    if errs.answered:
        asked = times(len(run.requests) - len(before))
        raise NotApplicable(f"the loop asked {asked} with growing waits, {ITS_OWN_CHOICE}")
    return run


def waits_for_a_while(run: Run) -> bool:
    """Whether a run without an outcome has done nothing since the last reply, and would go on some time."""
    happened = [event for event in run.transcript.events if not isinstance(event, Ended)]
    may_go_on = isinstance(run.outcome, Nothing) and not run.outcome.still
    return may_go_on and bool(happened) and isinstance(happened[-1], Replied)


def fails_always(
    scenario: Scenario,
    implementation: Implementation,
    fault: Step | HttpError,
    *before: object,
    what: str = "an error",
    told_by: Collection[str] = (),
) -> None:
    """After these steps the service answers every request so; the loop gives up with an error.

    ``what``: what the answers are, for the message. ``told_by``: the stop reasons of a value that tell its caller too.
    """
    run = always_failing(scenario, implementation, fault, *before)

    errors = len(run.requests) - len(before)
    assert errors < MOST, f"the service has failed {errors} times, and the loop still asks"
    is_told = run.failed or (isinstance(run.outcome, Value) and run.outcome.stop in told_by)
    assert is_told, f"the service has answered {times(errors)} with {what}, and the loop {run.outcome}"
