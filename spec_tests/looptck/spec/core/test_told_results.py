"""What the model is told of a call that could not run: what was wrong with it, and not a slip of the loop."""

from __future__ import annotations

import re

import pytest

from looptck.bench.assertions.failure_texts import ARGUMENT, tells_of_mistake
from looptck.bench.checks import Implementation, requirement
from looptck.bench.scenario import Scenario
from looptck.values.plain import MOST, begun
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotApplicable

CANNOT_RUN = [
    pytest.param(
        Call.of("teleport", {"city": "Oslo"}),
        re.compile(r"teleport|unknown|exist|found|available|no such|regist", re.IGNORECASE),
        id="unknown",
    ),
    pytest.param(
        Call("weather", '{"city": "Oslo'),
        re.compile(rf"json|{ARGUMENT}|pars|invalid|column|char|unterminated|EOF|expect|position|Oslo", re.IGNORECASE),
        id="not-json",
    ),
    pytest.param(
        Call("weather", "{}"),
        re.compile(rf"city|{ARGUMENT}|requir|missing|invalid|validation|schema", re.IGNORECASE),
        id="lacks-a-member",
    ),
]
"""Calls of the model, and what a text has of which the model can learn what is wrong with each."""


@requirement("result-of-a-failure-is-about-it")
@pytest.mark.parametrize(("call", "about"), CANNOT_RUN)
def test_result_of_a_call_that_cannot_run(
    scenario: Scenario, implementation: Implementation, call: Call, about: re.Pattern[str]
) -> None:
    """The tool is not offered, or the arguments are no JSON or lack a member, and the model reads the result."""
    scenario.plays(calls(call), says("I cannot tell."))

    run = implementation.run()

    turn = run.delivered(1)
    if run.ran:
        raise NotApplicable("the loop runs the call as the model has written it")
    if len(run.requests) < 2:
        raise NotApplicable("the loop ends where a call cannot run")
    texts = [answer.text for answer in run.answers(1) if answer.id == turn.calls[0].id]
    if not texts:
        raise NotApplicable("the loop goes on without a result of the call")
    slip = tells_of_mistake(texts[0]) and not about.search(texts[0])
    assert not slip, f"the call {call.tool}({call.arguments}) cannot run, and the model reads {begun(texts[0], MOST)!r}"
