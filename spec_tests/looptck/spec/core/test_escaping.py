"""Escaping errors: what no caller can catch, such as a rejection in JavaScript that nobody awaits, ends the process.

The driver says so of an outcome. A run that was cancelled may leave such errors behind, and is not judged.
"""

from __future__ import annotations

import pytest

from looptck.bench.checks import Implementation, on, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.provider.faults import Cut, ErrorEvent, Fault, HttpError, Malformed
from looptck.provider.script import Step
from looptck.values.framing import DEFAULT
from looptck.values.outcome import Failed
from looptck.values.turns import Call, calls, says

IN_STREAMS: dict[str, Fault] = {
    "error-event": ErrorEvent(after=9),
    "cut": Cut(0.7, "before-finish"),
    "malformed": Malformed(at=9),
}


def _nothing_escapes(run: Run) -> None:
    escaped = isinstance(run.outcome, Failed) and run.outcome.escaped
    assert not escaped, f"an error got past the caller: the loop {run.outcome}"


@requirement("no-error-escapes-its-caller")
def test_refused_request(scenario: Scenario, implementation: Implementation) -> None:
    """The service refuses the first request."""
    scenario.plays(HttpError(400), says("Not asked for."))

    run = implementation.run()

    run.replied(1)
    _nothing_escapes(run)


@requirement("no-error-escapes-its-caller")
@pytest.mark.parametrize("fault", IN_STREAMS.values(), ids=IN_STREAMS)
@on("*/stream/*")
def test_broken_stream(scenario: Scenario, implementation: Implementation, fault: Fault) -> None:
    """A stream ends in the middle of its text."""
    step = Step(says("The capital of France is Paris."), DEFAULT.but(fragment=1), fault=fault)
    scenario.plays(step, says("It is Paris."))

    run = implementation.run()

    run.replied(1)
    _nothing_escapes(run)


@requirement("no-error-escapes-its-caller")
def test_two_tools_raise(scenario: Scenario, implementation: Implementation) -> None:
    """Both tools of a turn raise, so that a loop that ends at the first error leaves another behind."""
    scenario.plays(calls(Call.of("ping"), Call.of("weather", {"city": "Paris"})), says("Done."))
    scenario.raises("ping", "no reply")
    scenario.raises("weather", "no such city")

    run = implementation.run()

    run.delivered(1)
    _nothing_escapes(run)
