"""Profile ``agent-loop-010``: Requests that fail, whose replies are no Solutions.

The documents do not say what a loop does with a failed Request: it may report an error, ask again or return nothing.
What it must not do is to take the reply for a Solution.
"""

from __future__ import annotations

import pytest

from looptck.bench.checks import Implementation, on, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.solutions import call, solution
from looptck.provider.faults import Cut, ErrorEvent, Fault, HttpError, NoFinish
from looptck.provider.gate import Gate
from looptck.provider.gates import ABSENCE
from looptck.provider.script import RUNAWAY_CAP, Hold, Step
from looptck.spec.agent_loop_010.probes import tools
from looptck.spec.failing_service import FailingService
from looptck.values.framing import DEFAULT
from looptck.values.outcome import Value
from looptck.values.transcript import Ended, Event, Received
from looptck.values.turns import Turn
from looptck.values.verdicts import NotApplicable

SOON = (("retry-after-ms", "5"), ("retry-after", "0"))
"""Headers that keep retrying loops from waiting: the services' own, in milliseconds, and the standard one."""
LONG = "and so on, " * 60
"""A text that takes up most of a reply, so that a cut at two thirds of the reply is within it."""
IN_THE_TEXT = Cut(0.66)
AGAIN = solution(output="asked again")
"""The reply to a loop that asks again."""
FIRST = call("first", {"value": 1}, to="†state.first")
SECOND = call("second", {"value": LONG}, to="†state.second")


def _no_output_of(run: Run, what: str) -> None:
    """Assert that the run returned nothing but the output of a later Request."""
    output = run.outcome.output if isinstance(run.outcome, Value) else None
    later = len(run.requests) > 1 and output == "asked again"

    assert output is None or later, f"{what}, and the loop {run.outcome}"


@requirement("loop010-http-errors-give-no-output")
@pytest.mark.parametrize("before", [(), (solution(FIRST),)], ids=["at-once", "in-turn-two"])
@pytest.mark.parametrize("status", [400, 500])
def test_an_error_that_lasts(
    scenario: Scenario, implementation: Implementation, status: int, before: tuple[Turn, ...]
) -> None:
    """The service answers every Request with an error, at once or after a turn with a call; the run ends."""
    errs = FailingService(HttpError(status, SOON))
    scenario.plays(*before)
    scenario.always(errs)

    run = implementation.run(tools=tools("first"))

    run.replied(len(before) + 1)
    if errs.answered:
        raise NotApplicable("the loop asked with growing waits: how long it backs off is its own choice")
    assert len(run.requests) < RUNAWAY_CAP, f"the service has failed {len(run.requests)} times, and the loop still asks"
    _no_output_of(run, f"every Request failed with status {status}")


@requirement("loop010-broken-replies-give-no-output")
def test_an_output_that_is_cut(scenario: Scenario, implementation: Implementation) -> None:
    """The connection breaks within the output: the part that came is not returned."""
    scenario.plays(Step(solution(output={"note": LONG}), fault=IN_THE_TEXT), AGAIN)

    run = implementation.run(tools=tools("first"))

    run.replied(1)
    _no_output_of(run, "the connection broke within the output")


@requirement("loop010-broken-replies-give-no-output")
@on("*/stream/*")
def test_an_error_event(scenario: Scenario, implementation: Implementation) -> None:
    """A Solution with an output is followed by an error in place of the end of its stream.

    The error comes once a loop that does not wait for the end has had time to take the Solution. Whether a loop waits
    is recorded; of one that does not wait nothing else is asked.
    """
    taken = Gate("the Solution is taken", _goes_on, ABSENCE, if_ever=True)
    whole = solution(FIRST, output="Done.")
    scenario.plays(Step(whole, fault=ErrorEvent(), holds=(Hold(taken, None),)), AGAIN)

    run = implementation.run(tools=tools("first"))

    run.replied(1)
    waits = taken.name in run.gave_up
    implementation.diverges("a whole Solution", "is taken at the end of its stream" if waits else "is taken at once")
    if not waits:
        raise NotApplicable("the loop takes a Solution at its last brace, before the error is sent")
    _no_output_of(run, "the stream ended in an error")


def _goes_on(event: Event) -> bool:
    return isinstance(event, Ended) or (isinstance(event, Received) and event.n == 2)


BREAKS = {"cut": Cut(place="before-finish"), "no-finish": NoFinish(done=False)}
"""The ways in which a stream breaks off behind a whole Solution."""


@requirement("loop010-broken-replies-give-no-output")
@on("openai-chat/stream/*")
@pytest.mark.parametrize("fault", BREAKS.values(), ids=BREAKS)
def test_a_break_behind_the_solution(scenario: Scenario, implementation: Implementation, fault: Fault) -> None:
    """The effect of a stream that breaks off behind the last brace of a Solution is left open."""
    scenario.plays(Step(solution(FIRST, output="Done."), fault=fault), AGAIN)

    run = implementation.run(tools=tools("first"))

    run.replied(1)
    again = "the model is asked again" if len(run.requests) > 1 else "the Solution is taken"
    implementation.diverges(
        "a stream that breaks off behind a whole Solution", "an error for the caller" if run.failed else again
    )
    raise NotApplicable("no document says whether a Solution counts whose stream breaks off behind it")


@requirement("loop010-broken-replies-run-whole-calls-only")
@pytest.mark.parametrize("calls", [(FIRST, SECOND), (SECOND,)], ids=["behind-a-whole-call", "alone"])
def test_a_call_that_is_cut(
    scenario: Scenario, implementation: Implementation, calls: tuple[dict[str, object], ...]
) -> None:
    """The connection breaks within a call: it does not run. Calls that had come before may run."""
    scenario.plays(solution(*calls), AGAIN)
    whole = implementation.run(tools=tools("first", "second"))
    scenario.plays(Step(solution(*calls), DEFAULT, IN_THE_TEXT), AGAIN)

    run = implementation.run(tools=tools("first", "second"))

    whole.tool_ended("second")
    run.replied(1)
    assert [] == run.arguments_of("second"), "the connection broke within a call of `second`, which ran"
