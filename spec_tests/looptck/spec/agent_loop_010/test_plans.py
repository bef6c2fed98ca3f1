"""Profile ``agent-loop-010``: plans, which hold the calls of the turn before; lazy plans run no calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from looptck.bench.bench import Scenario
from looptck.bench.checks import Implementation, control, requirement
from looptck.bench.run import Run
from looptck.bench.solutions import activity, call, embedded, solution
from looptck.values.transcript import Received

TOOLS = [activity(name, value="") for name in ("probe", "other", "third")]
DONE = solution(output="Done.")
EARLIER = call("third", {"value": "planned long ago"}, to="†state.earlier")
ONE = call("probe", {"value": 1}, to="†state.one")
TWO = call("other", {"value": ["†state.one", {"deep": "†state.one"}]}, to="†state.two", method="set")
THREE = call("third", {"value": 3})


def _context(*plan: dict[str, Any], **mode: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": "Go."}, {"type": "plan", "plan": list(plan), **mode}]


def _plan(request: Received) -> Any:
    """The newest plan in a Request: the last array under a key ``plan``."""
    plans = [plan for value in embedded(request) for plan in _plans(value)]
    return plans[-1] if plans else None


def _plans(value: Any) -> Iterator[Any]:
    match value:
        case {"type": "plan", "plan": list(plan)}:
            yield plan
        case dict():
            for inner in value.values():
                yield from _plans(inner)
        case list():
            for inner in value:
                yield from _plans(inner)


@requirement("loop010-plans-hold-the-last-calls")
@pytest.mark.parametrize("plan", [(), (EARLIER,)], ids=["empty", "older"])
@pytest.mark.parametrize("mode", [{}, {"mode": "eager"}], ids=["usual", "eager"])
def test_the_last_calls(
    scenario: Scenario, implementation: Implementation, plan: tuple[dict[str, Any], ...], mode: dict[str, str]
) -> None:
    """The plan of each Request has the calls of the turn before, as the model wrote them."""
    scenario.plays(solution(ONE, TWO), solution(THREE), DONE)

    run = implementation.run(context=_context(*plan, **mode), tools=TOOLS)

    run.request(3)
    assert [[ONE, TWO], [THREE]] == [_plan(run.request(2)), _plan(run.request(3))]


def _lazy(implementation: Implementation, mode: str) -> Run:
    return implementation.run(context=_context(EARLIER, mode=mode), tools=TOOLS)


@requirement("loop010-lazy-plans-run-nothing")
@pytest.mark.parametrize("calls", [(ONE,), (ONE, TWO), (THREE, THREE)], ids=["one", "dependent", "twice"])
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
