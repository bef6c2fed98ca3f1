"""Profile ``agent-loop-010``: what later turns have of the context, of failures and of calls that never ran."""

from __future__ import annotations

from looptck.bench.checks import Implementation, requirement
from looptck.bench.scenario import Scenario
from looptck.bench.solutions import activity, call, place, solution
from looptck.spec.agent_loop_010.failures import COUNT, count, described, errors_about, goes_on, told_once
from looptck.spec.agent_loop_010.test_turns import CONTEXT
from looptck.values.plain import plain

TOOLS = [COUNT, *(activity(name, value="", mark="string", optional=("mark",)) for name in ("read", "write", "boom"))]
DONE = solution(output="Done.")
BOOM = call("boom", {"value": "mark1"}, to="†state.boom")
READS = call("read", {"value": "†state.late", "mark": "mark1"}, to="†state.read")


@requirement("loop010-null-output-asks-again")
def test_the_initial_context_stays(scenario: Scenario, implementation: Implementation) -> None:
    """The third Request still has every message with which the run began."""
    scenario.plays(solution(count()), solution(count(mark="second")), DONE)

    run = implementation.run(tools=TOOLS, context=[*CONTEXT.values()])

    sent = run.request(3)
    lost = [word for word in CONTEXT if place(sent, word) is None]
    assert [] == lost, f"request 3 no longer has these messages of the initial context: {plain(lost)}"


@requirement("loop010-one-error-message-for-each-failure")
def test_failures_of_two_turns(scenario: Scenario, implementation: Implementation) -> None:
    """A call fails in each of two turns; the third Request has the first failure once, or not at all any more."""
    again = call("boom", {"value": "mark2"}, to="†state.again")
    scenario.plays(solution(BOOM), solution(again), DONE)
    scenario.raises("boom", "it did not work")

    run = implementation.run(tools=TOOLS)

    told_once(run, BOOM)
    told_once(run, again, n=3)
    earlier = len(errors_about(run, "mark1", n=3))
    assert earlier < 2, f"request 3 has {earlier} Error Messages about {described(BOOM)}, which failed once"


@requirement("loop010-unresolvable-references-become-errors")
def test_written_one_turn_later(scenario: Scenario, implementation: Implementation) -> None:
    """The next turn writes the path: the call that was reported as failed does not run after all."""
    scenario.plays(solution(READS, count()), solution(call("write", {"value": "late"}, to="†state.late")), DONE)

    run = implementation.run(tools=TOOLS)

    goes_on(run)
    told_once(run, READS)
    run.tool_ended("write")
    run.request(3)
    ran = run.arguments_of("read")
    assert [] == ran, f"request 2 reports the call of `read` as failed, and it ran one turn later, with {plain(ran)}"
