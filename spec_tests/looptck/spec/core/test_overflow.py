"""A context that is too long: the service refuses a request, and what a loop asks in its place has the question."""

from __future__ import annotations

import json

from looptck.bench.bench import Scenario
from looptck.bench.checks import Implementation, requirement
from looptck.bench.run import Run
from looptck.spec.overflowing import too_long
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotApplicable

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
