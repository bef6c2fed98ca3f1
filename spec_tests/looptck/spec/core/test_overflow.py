"""A context that is too long: what a loop asks in place of the refused request has the question and the tools."""

from __future__ import annotations

import json

from looptck.bench.checks import Implementation, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.catalogue.agents import agent
from looptck.spec.overflowing import too_long
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotApplicable, NotReached

QUESTION = "How warm is it in the towns of question 4711?"
MARK = "4711"
ROUNDS = (calls(Call.of("weather", {"city": "Paris"})), calls(Call.of("weather", {"city": "Oslo"})))


def _overflown(scenario: Scenario, implementation: Implementation) -> Run:
    """The run whose third request is too long; whatever is asked then is answered with a text."""
    scenario.plays(*ROUNDS, too_long(implementation.cell.wire), *[says("It is warm in both.")] * 2)
    run = implementation.run(QUESTION)
    run.replied(3)
    if len(run.requests) < 4:
        raise NotApplicable(f"the loop does not ask again: it {run.outcome}")
    return run


@requirement("question-survives-an-overflow")
def test_the_question_survives(scenario: Scenario, implementation: Implementation) -> None:
    """After two rounds of tools the request is too long; what is asked in its place has the question."""
    run = _overflown(scenario, implementation)

    request = run.request(4)
    if request.request.continues is not None:
        raise NotApplicable("the service has the history")
    refused = [problem.message for problem in request.problems]
    assert not refused, f"the service refuses the shorter request too: {refused[0]}"
    assert MARK in json.dumps(request.body), "the request after the one that was too long does not have the question"


@requirement("tools-survive-an-overflow")
def test_the_tools_survive(scenario: Scenario, implementation: Implementation) -> None:
    """After two rounds of tools the request is too long; the last request, which the answer answers, has all tools."""
    run = _overflown(scenario, implementation)

    request = run.requests[-1]
    if request.problems:
        raise NotReached(f"the service refuses what is asked in its place: {request.problems[0].message}")
    offered = {tool.name for tool in request.request.tools}
    missing = [tool.name for tool in agent("assistant").tools if tool.name not in offered]
    assert not missing, (
        f"the request after the one that was too long for the model no longer offers {', '.join(missing)}"
    )
