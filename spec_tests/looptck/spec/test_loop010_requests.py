"""Profile ``agent-loop-010``: the Requests as the service takes them."""

from __future__ import annotations

from looptck.checks import Implementation, requirement
from looptck.expectations import accepted
from looptck.kit import Scene
from looptck.solutions import call, solution
from looptck.spec.probes import DONE, tools


@requirement("loop010-no-request-is-refused")
def test_requests_are_accepted(provider: Scene, implementation: Implementation) -> None:
    """The service takes every Request, behind a result and behind a failure."""
    provider.plays(
        solution(call("first", {"value": 1}, to="†state.first")),
        solution(call("second", {"value": "†state.first"}, to="†state.second")),
        DONE,
    )
    provider.raises("second", "it did not work")

    run = implementation.run(tools=tools("first", "second"))

    accepted(run, wanted=True)
    run.request(3)
