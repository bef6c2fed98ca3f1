"""Profile ``agent-loop-010``: what a Request gives the model beside the context, and that the service accepts it."""

from __future__ import annotations

import json
from typing import Any

from looptck.bench.assertions.turns import accepted
from looptck.bench.checks import Implementation, requirement
from looptck.bench.scenario import Scenario
from looptck.bench.solutions import activity, call, solution
from looptck.spec.agent_loop_010.probes import DONE, tools
from looptck.values.transcript import Received
from looptck.values.verdicts import NotApplicable, NotReached

OFFERED = [activity("okapi", tamarin="string", urial="integer"), activity("pangolin", viscacha="boolean")]
"""Tools whose names and parameters no loop would write by itself."""
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"serval": {"type": "string"}, "inner": {"type": "object", "properties": {"wombat": {}}}},
}
"""A schema of the output with names of that kind."""


@requirement("loop010-requests-have-tools-and-schema")
def test_tools_and_schema_are_told(scenario: Scenario, implementation: Implementation) -> None:
    """The first Request has the names of all tools, parameters and members of the output, in whatever form."""
    scenario.plays(solution(output={"serval": "Done."}))

    run = implementation.run(tools=OFFERED, output_schema=SCHEMA)

    missing = _missing(run.request(1))
    assert [] == missing, f"request 1 lacks {'; '.join(missing)}"


@requirement("loop010-later-requests-have-tools-and-schema")
def test_tools_and_schema_are_told_again(scenario: Scenario, implementation: Implementation) -> None:
    """The second Request of three has the names that the first one has, unless the service remembers them."""
    scenario.plays(solution(), solution(), solution(output={"serval": "Done."}))

    run = implementation.run(tools=OFFERED, output_schema=SCHEMA)

    first, second = run.request(1), run.request(2)
    if second.body.get("previous_response_id"):
        raise NotApplicable("the second Request relies on what the service remembers of the first one")
    if lost := _missing(first):
        raise NotReached(f"control: request 1 lacks {'; '.join(lost)}")
    missing = _missing(second)
    assert [] == missing, f"request 2 lacks {'; '.join(missing)}, which request 1 has"


def _missing(request: Received) -> list[str]:
    """The kinds of names that a Request does not have in any form, with these names."""
    sent = json.dumps(request.body)
    wanted = {
        "tools": ("okapi", "pangolin"),
        "parameters of tools": ("tamarin", "urial", "viscacha"),
        "members of the output": ("serval", "wombat"),
    }
    lost = {what: [word for word in words if word not in sent] for what, words in wanted.items()}
    return [f"the {what} {', '.join(words)}" for what, words in lost.items() if words]


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
