"""Retries in time: a service that says when it may be asked again is asked no sooner.

Times are those at which requests arrive at the provider. A loop may wait for longer than it is told.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from email.utils import formatdate

from looptck.bench.checks import Implementation, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.provider.faults import HttpError
from looptck.spec.failing_service import SOON, always_failing
from looptck.values.outcome import Failed
from looptck.values.plain import times
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotApplicable

SECONDS = 1
"""The shortest wait that the header can express."""
AHEAD = 2
"""Seconds from now to the date, which has no fractions: the wait is between one and two seconds."""
EARLY = 0.05
"""Seconds by which clocks and timers may be early."""
INVALID = "The request is not valid."
"""What the service says of a request that is wrong."""
LONG_AGO = 3600
"""Seconds since a date that is past, whatever the clocks."""


def _refused_once(
    scenario: Scenario, implementation: Implementation, *headers: tuple[str, str], status: int = 429
) -> Run:
    """The run of a call whose second request is refused once, with these headers."""
    scenario.plays(calls(Call.of("weather", {"city": "Paris"})), HttpError(status, headers), says("Warm."))
    run = implementation.run()
    run.replied(2)
    return run


@requirement("retry-after-is-kept")
def test_retry_after(scenario: Scenario, implementation: Implementation) -> None:
    """The service refuses a request for a second; the next one comes when it is over."""
    _is_kept(_refused_once(scenario, implementation, ("retry-after", str(SECONDS))))


@requirement("retry-after-is-kept")
def test_retry_after_unavailable(scenario: Scenario, implementation: Implementation) -> None:
    """The service is unavailable for a second; the next request comes when it is over."""
    _is_kept(_refused_once(scenario, implementation, ("retry-after", str(SECONDS)), status=503), "with the status 503 ")


@requirement("retry-after-may-be-a-date")
def test_retry_after_a_date(scenario: Scenario, implementation: Implementation) -> None:
    """The service says the time at which it may be asked again; a loop that does not try again fails as ever."""
    usual = _refused_once(scenario, implementation)
    date = int(time.time()) + AHEAD
    run = _refused_once(scenario, implementation, ("retry-after", formatdate(date, usegmt=True)))

    if len(run.requests) > 2:
        _is_the_same_model(run)
        asked = time.time() - run.transcript.now() + run.requests[2].at
        assert asked >= date - EARLY, f"the loop has asked again {date - asked:.2f} s before the time that it was given"
        return
    _is_refused_as_ever(usual, run, "with a date")


@requirement("odd-retry-after-is-no-error")
def test_odd_retry_after(scenario: Scenario, implementation: Implementation) -> None:
    """The wait is negative, its date is past, or it is no time at all: the loop tries again or fails as without it."""
    usual = _refused_once(scenario, implementation)
    for header in ("-1", formatdate(time.time() - LONG_AGO, usegmt=True), "soon"):
        run = _refused_once(scenario, implementation, ("retry-after", header))
        if len(run.requests) <= 2:
            _is_refused_as_ever(usual, run, f"with {header!r}")


def _is_kept(run: Run, how: str = "") -> None:
    """Assert that the third request comes when the wait is over; ``how``: the words for an unusual refusal."""
    if len(run.requests) < 3:
        raise NotApplicable(f"the loop does not try again: it {run.outcome}")
    _is_the_same_model(run)
    waited = run.requests[2].at - run.replied(2).at
    assert waited >= SECONDS - EARLY, f"asked {how}to wait {SECONDS} s, the loop has asked again after {waited:.2f} s"


def _is_the_same_model(run: Run) -> None:
    """Raise NotApplicable if the loop asks another model in place of the refused one: services limit each by itself."""
    refused, asked = (run.request(n).request.model for n in (2, 3))
    if refused != asked:
        raise NotApplicable(f"the loop asks another model, {asked!r}, in place of the refused one")


def _is_refused_as_ever(usual: Run, run: Run, told: str) -> None:
    """Assert that a loop that does not try again fails with the service's refusal, as without the header.

    Raises:
        NotApplicable: it hides every refusal, whatever the headers are, which is the failure of another requirement.
    """
    if isinstance(run.outcome, Failed) and run.outcome.reason == "provider":
        return
    if len(usual.requests) <= 2 and not (isinstance(usual.outcome, Failed) or isinstance(run.outcome, Failed)):
        raise NotApplicable(
            f"the loop neither tries again nor tells the refusal, with the header or without: it {run.outcome}"
        )
    assert isinstance(usual.outcome, Failed), f"without a Retry-After the loop tries again, {told} it {run.outcome}"
    assert isinstance(run.outcome, Failed), f"it is refused, and {run.outcome}"
    assert usual.outcome.type == run.outcome.type, f"{told} the loop {run.outcome}, and without it {usual.outcome}"


@requirement("refused-request-is-not-repeated")
def test_refused_request(scenario: Scenario, implementation: Implementation) -> None:
    """The service refuses every request as wrong; the same one is sent three times at most, as by any common retry."""
    run = always_failing(scenario, implementation, HttpError(400, SOON, message=INVALID))

    sent = Counter(json.dumps(received.body, sort_keys=True) for received in run.requests)
    most = max(sent.values())
    assert most <= 3, f"the service has refused a request with the status 400, and the loop has sent it {times(most)}"
