"""The service's own tools in a run: later requests offer them too, and a suspended run keeps their container."""

from __future__ import annotations

import json

from looptck.bench.assertions.turns import hosted_offered, hosted_stays, sent_beside
from looptck.bench.checks import Implementation, on, requirement
from looptck.bench.scenario import Scenario
from looptck.bench.talk import Talk
from looptck.catalogue.agents import agent
from looptck.spec.resuming import approved, resumed, stop
from looptck.values.turns import Call, Hosted, Served, Text, Turn, calls, says, turn
from looptck.values.verdicts import NotReached

NOTE = Call.of("note", {"text": "first"})
CONTAINER = "container_looptck"


def _code(number: int) -> tuple[Served, ...]:
    """Code that the service runs: the first waits for a call of its own, and the second has ended."""
    id = f"srvtoolu_looptck_{number}"
    code = {"type": "server_tool_use", "id": id, "name": "code_execution", "input": {"code": "print(1)"}}
    done = {"type": "code_execution_result", "stdout": "1", "stderr": "", "return_code": 0, "content": []}
    result = {"type": "code_execution_tool_result", "tool_use_id": id, "content": done}
    return tuple(Served(json.dumps(one), str(one.get("id", ""))) for one in ([code] if number == 1 else [code, result]))


@requirement("hosted-tools-are-offered-every-time")
@on("openai-responses/*/*", "anthropic-messages/*/*")
def test_offered_every_time(scenario: Scenario, implementation: Implementation) -> None:
    """The service has searched beside a call, and the model goes on calling: each request lets it search again."""
    scenario.plays(turn(Hosted(), Call.of("ping")), calls(NOTE), says("That is all."))

    run = implementation.run("What is the weather?")

    run.request(3)
    first = run.request(1)
    if not hosted_offered(first.body):
        raise NotReached("the first request offers no tool of the service")
    for received in run.requests[1:]:
        hosted_stays(first, received)


@requirement("tools-are-offered-every-time")
@on("openai-responses/*/*", "anthropic-messages/*/*")
def test_own_tools_beside_those_of_the_service(scenario: Scenario, implementation: Implementation) -> None:
    """The caller has the service's search beside tools of its own: each request offers both."""
    scenario.plays(turn(Hosted(), Call.of("ping")), says("That is all."))

    run = implementation.run("What is the weather?")

    run.request(2)
    if not hosted_offered(run.request(1).body):
        raise NotReached("the first request offers no tool of the service")
    for received in run.requests:
        offered = {tool.name for tool in received.request.tools}
        missing = [tool.name for tool in agent("assistant").tools if tool.name not in offered]
        assert not missing, f"beside a tool of the service, request {received.n} does not offer {', '.join(missing)}"


@requirement("container-goes-on")
@on("anthropic-messages/*/*")
def test_container_of_a_suspended_run(scenario: Scenario, implementation: Implementation) -> None:
    """Code of the service calls a tool that needs approval: the run that is resumed names the code's container."""
    implementation.needs("suspend")
    asks, says_so = (
        Turn((*_code(number), last), container=CONTAINER) for number, last in ((1, NOTE), (2, Text("Kept.")))
    )
    talk = Talk(implementation, named=False)
    first, left = stop(scenario, talk, [asks, says_so])
    scenario.plays(*left)

    *_, run = resumed(talk, first, approved)

    sent_beside(run, {"turn": 0, "container": CONTAINER})
