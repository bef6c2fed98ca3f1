"""Profile ``agent-loop-010``: plans, which hold the calls of the turn before; lazy plans run no calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from looptck.bench.checks import Implementation, control, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.solutions import activity, call, embedded, solution
from looptck.spec.agent_loop_010.failures import described
from looptck.values.transcript import Received
from looptck.values.verdicts import NotReached

TOOLS = [activity(name, value="") for name in ("probe", "other", "third")]
DONE = solution(output="Done.")
EARLIER = call("third", {"value": "planned long ago"}, to="†state.earlier")
ONE = call("probe", {"value": 1}, to="†state.one")
TWO = call("other", {"value": ["†state.one", {"deep": "†state.one"}]}, to="†state.two", method="set")
THREE = call("third", {"value": 3}, to="†state.three")
FOUR = call("third", {"value": 4}, to="†state.four")
FAILS = call("third", {"value": "raises"}, to="†state.failed")
WAITS = call("other", {"value": "†state.failed"}, to="†state.waited")
NOT_COMPLETED = ((FAILS, "failed"), (WAITS, "never ran"))


def _context(*plan: dict[str, Any], **mode: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": "Go."}, {"type": "plan", "plan": list(plan), **mode}]


def _plans(request: Received) -> list[Any]:
    """The plans in a Request, in order: the arrays under a key ``plan``."""
    return [plan for value in embedded(request) for plan in _plans_in(value)]


def _plans_in(value: Any) -> Iterator[Any]:
    match value:
        case {"type": "plan", "plan": list(plan)}:
            yield plan
        case dict():
            for inner in value.values():
                yield from _plans_in(inner)
        case list():
            for inner in value:
                yield from _plans_in(inner)


@requirement("loop010-plans-hold-the-last-calls")
@pytest.mark.parametrize("plan", [(), (EARLIER,)], ids=["empty", "older"])
@pytest.mark.parametrize("mode", [{}, {"mode": "eager"}], ids=["usual", "eager"])
def test_the_last_calls(
    scenario: Scenario, implementation: Implementation, plan: tuple[dict[str, Any], ...], mode: dict[str, str]
) -> None:
    """The newest plan of each Request has the calls of the turn before, as the model wrote them.

    Whether a Request has older plans too is recorded.
    """
    scenario.plays(solution(ONE, TWO), solution(THREE), DONE)

    run = implementation.run(context=_context(*plan, **mode), tools=TOOLS)

    second, third = _plans(run.request(2)), _plans(run.request(3))
    assert [[ONE, TWO], [THREE]] == [plans[-1] if plans else None for plans in (second, third)]
    stays = [ONE, TWO] in third
    implementation.diverges("plans of earlier turns", "stay in the context" if stays else "are replaced by the newest")


@requirement("loop010-plans-hold-the-last-calls")
def test_calls_that_did_not_complete(scenario: Scenario, implementation: Implementation) -> None:
    """A call raises, and another one waits for its result: both are in the plan, as is the call that completed."""
    scenario.plays(solution(ONE, FAILS, WAITS), DONE)
    scenario.raises("third", "it did not work")

    run = implementation.run(context=_context(EARLIER), tools=TOOLS)

    run.tool_ended("third")
    plans = _plans(run.request(2))
    if not plans or ONE not in plans[-1]:
        raise NotReached("control: request 2 has no plan with the call that completed")
    missing = [f"{described(one)}, which {how}" for one, how in NOT_COMPLETED if one not in plans[-1]]
    assert [] == missing, f"the plan in request 2 lacks a call of the last turn: {' and '.join(missing)}"


def _lazy(implementation: Implementation, mode: str) -> Run:
    return implementation.run(context=_context(EARLIER, mode=mode), tools=TOOLS)


@requirement("loop010-lazy-plans-run-nothing")
@pytest.mark.parametrize("calls", [(ONE,), (ONE, TWO), (THREE, FOUR)], ids=["one", "dependent", "twice"])
def test_lazy_plans(scenario: Scenario, implementation: Implementation, calls: tuple[dict[str, Any], ...]) -> None:
    """The Solution is returned, and none of its calls runs; with an eager plan they do run."""
    scenario.plays(solution(*calls), DONE)
    eager = _lazy(implementation, "eager")

    run = _lazy(implementation, "lazy")

    control(eager, *(one["_tool"] for one in calls))
    run.delivered(1)
    assert [] == run.tools_ran
    assert 1 == len(run.requests), "the model was asked again"
    assert isinstance(run.output, dict), f"the loop {run.outcome}, which is not a Solution"
    assert list(calls) == run.output.get("calls"), f"the loop {run.outcome}, which is not the Solution"
