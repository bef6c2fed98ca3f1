"""Profile ``agent-loop-010``: the service accepts the Requests."""

from __future__ import annotations

from looptck.bench.assertions.turns import accepted
from looptck.bench.bench import Scenario
from looptck.bench.checks import Implementation, requirement
from looptck.bench.solutions import call, solution
from looptck.spec.agent_loop_010.probes import DONE, tools


@requirement("loop010-no-request-is-refused")
def test_requests_are_accepted(scenario: Scenario, implementation: Implementation) -> None:
    """The service accepts every Request, after a result and after a failure."""
    scenario.plays(
        solution(call("first", {"value": 1}, to="†state.first")),
        solution(call("second", {"value": "†state.first"}, to="†state.second")),
        DONE,
    )
    scenario.raises("second", "it did not work")

    run = implementation.run(tools=tools("first", "second"))

    accepted(run, wanted=True)
    run.request(3)
