"""Tools that are offered to the model and have no function: a call of one has a result and stops no other call."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from looptck.bench.assertions.failure_texts import tells_of_failure
from looptck.bench.assertions.results import answers
from looptck.bench.checks import Implementation, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.catalogue.agents import agent
from looptck.provider.toolbox import Returns
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotApplicable

WITHOUT, WITH, UNKNOWN = Call.of("weather", {"city": "Paris"}), Call.of("ping"), Call.of("teleport", {"city": "Paris"})
TOOLS = [replace(tool, handled=tool.name != WITHOUT.tool) for tool in agent("assistant").tools]


def _ends_with_its_turn(run: Run, implementation: Implementation) -> bool:
    """Whether the run ends with the turn of the call, in an error or not. NotApplicable if it takes no such tool."""
    if run.ended and not run.received:
        implementation.run().request(1)
        raise NotApplicable(f"the loop takes no tool without a function: it {run.outcome}")
    run.delivered(1)
    return run.ended and len(run.requests) == 1


def _runs_none_and_tells(run: Run, calls: int) -> bool:
    """Whether no call of the first turn ran, and the model is told of so many that they have failed."""
    told = [one for one in run.answers(1) if one.failed or tells_of_failure(one.text, WITH.tool)]
    return not run.tools_ran and len(told) == calls


@requirement("every-call-is-answered")
def test_the_only_call_has_no_function(scenario: Scenario, implementation: Implementation) -> None:
    """The one call of a turn is of a tool without a function. A loop that goes on has the call with a result."""
    scenario.plays(calls(WITHOUT), says("I cannot tell."))

    run = implementation.run(tools=TOOLS)

    if _ends_with_its_turn(run, implementation):
        return
    before, request = run.request(1).request, run.request(2).request
    assert before.items != request.items, (
        f"the turn calls {WITHOUT.tool}, which has no function; request 2 says what request 1 said, without the call"
    )
    left = {one.id for one in request.asked} - {one.id for one in request.answers}
    assert not left, f"the call of {WITHOUT.tool}, which has no function, is without a result in the next request"


@requirement("every-call-is-answered")
@pytest.mark.parametrize("turn", [(WITHOUT, WITH), (WITH, WITHOUT)], ids=["first", "last"])
def test_one_of_two_has_no_function(scenario: Scenario, implementation: Implementation, turn: tuple[Call, ...]) -> None:
    """Of two calls in a turn one is of a tool without a function. The run may end with it, in an error or not.

    Of a driver that offers no such tool it is a call of an unknown one, which is answered too.
    """
    scenario.plays(calls(*turn), says("I cannot tell."))

    run = implementation.run(tools=TOOLS)

    if _ends_with_its_turn(run, implementation):
        return
    request = run.request(2).request
    left = Counter(one.id for one in request.asked) - Counter(one.id for one in request.answers)
    open_calls = [one.tool for one in request.asked if one.id in left]
    assert not open_calls, (
        f"the turn calls {turn[0].tool} and {turn[1].tool}, and {WITHOUT.tool} has no function; the next request "
        f"carries the call of {open_calls[0]} without a result"
    )


@requirement("failing-call-leaves-the-others-whole")
@pytest.mark.parametrize("turn", [(WITHOUT, WITH), (WITH, WITHOUT)], ids=["first", "last"])
def test_the_other_call_runs(scenario: Scenario, implementation: Implementation, turn: tuple[Call, ...]) -> None:
    """Of two calls one is of a tool without a function. A loop that goes on with both has run the other one.

    A loop may look at a turn as a whole before a call runs, whatever is wrong with one of its calls; then it tells the
    model of each that it has not run.
    """
    scenario.does(WITH.tool, Returns("pong"))
    scenario.plays(calls(*turn), says("I cannot tell."))

    run = implementation.run(tools=TOOLS)

    if _ends_with_its_turn(run, implementation):
        raise NotApplicable(f"the loop ends with a call of a tool without a function: it {run.outcome}")
    if len(run.normalized(2).asked) < len(turn):
        raise NotApplicable("the loop leaves out the turn, or a call of it, and asks again")
    if _runs_none_and_tells(run, len(turn)):
        unknown = [UNKNOWN if call is WITHOUT else call for call in turn]
        scenario.plays(calls(*unknown), says("I cannot tell."))
        if _runs_none_and_tells(implementation.run(tools=TOOLS), len(turn)):
            raise NotApplicable("the loop runs no call of a turn of which one cannot run, and tells the model so")
    assert any(tool == WITH.tool for tool, _ in run.tools_ran), (
        f"the turn calls {turn[0].tool} and {turn[1].tool}, and {WITHOUT.tool} alone has no function; the loop went on "
        f"without running {WITH.tool}"
    )
    answers(run, 1)
