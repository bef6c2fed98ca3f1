"""Names of tools that the service does not allow: a loop that renames or refuses such tools does so with each."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from looptck.bench.assertions.turns import calls_echoed
from looptck.bench.checks import Implementation, refusable, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.provider.script import Step
from looptck.spec.offered_names import offered, weather
from looptck.values.plain import amount, plain
from looptck.values.problem import Problem
from looptck.values.turns import Call, Turn, calls, says
from looptck.values.verdicts import NotApplicable, NotReached

ILLEGAL = {
    "dot": "weather.today",
    "blank": "weather today",
    "too-long": "weather_" + "of_today_" * 15,
    "beyond-ascii": "météo_wetter_天気",
    "nothing-legal": "天気",
}
"""Names that none of the services allows: characters beyond letters, digits, _ and -, or more than 128 of them."""
WHY = "A loop may leave it to the service to refuse the name."
TOGETHER = [
    *(pytest.param(ILLEGAL["dot"], other, id=other) for other in ("weather_today", "weather-today", "weather today")),
    pytest.param("天気", "検索", id="nothing-legal"),
]
NAMES = [pytest.param(name, id=id) for id, name in ILLEGAL.items()]


def _calls_what_is_offered(scenario: Scenario, implementation: Implementation, *names: str) -> Run:
    """A run with tools of these names, in which the model calls one after the other as each is offered.

    The tools are those of the first request: where the service keeps the conversation, later ones need not offer them.
    """
    shown: list[tuple[str, str]] = []

    def turn(body: Any, at: int) -> Turn:
        if at == 0:
            shown[:] = offered(implementation.cell, body, names)
        return calls(*(Call.of(name, {"city": own}) for name, own in shown[at : at + 1]))

    scenario.plays(*(Step(None, by=partial(turn, at=at)) for at in range(len(names))), says("Warm."))
    return implementation.run(tools=[weather(name) for name in names])


@requirement("names-are-legal-on-the-wire")
@refusable(WHY)
@pytest.mark.parametrize("name", NAMES)
def test_names_are_legal(scenario: Scenario, implementation: Implementation, name: str) -> None:
    """A tool has a name that the service does not allow; what is sent, if anything is, names it otherwise."""
    run = _calls_what_is_offered(scenario, implementation, name)

    if run.requests:
        problems = run.request(1).problems
        refused = [problem.message for problem in problems if _is_of_a_tool(problem)]
        if refused:
            _cares_for_names(scenario, implementation)
        assert not refused, f"the tool {name!r} is offered under a name that the service refuses: {refused[0]}"
        if problems:
            raise NotReached(f"the first request {problems[0].refusal}, for another reason: {problems[0].message}")
        return
    _asks_with_a_usual_name(scenario, implementation)
    assert run.failed, f"it has sent nothing, and {run.outcome}"


def _is_of_a_tool(problem: Problem) -> bool:
    return problem.pointer.startswith("/tools/")


def _cares_for_names(scenario: Scenario, implementation: Implementation) -> None:
    """Raise NotApplicable for a loop that offers each tool under its own name: the service's error tells the caller."""
    run = _calls_what_is_offered(scenario, implementation, *ILLEGAL.values())
    if not run.requests:
        return
    refused = {problem.pointer.split("/")[2] for problem in run.request(1).problems if _is_of_a_tool(problem)}
    if len(refused) >= len(ILLEGAL):
        raise NotApplicable("the loop offers every name as it is, and leaves it to the service to refuse it")


def _asks_with_a_usual_name(scenario: Scenario, implementation: Implementation) -> None:
    """Raise NotReached for a loop that does not ask with a tool of any name."""
    _calls_what_is_offered(scenario, implementation, "weather").request(1)


def _renames(run: Run, scenario: Scenario, implementation: Implementation) -> None:
    """Raise NotApplicable for a loop that offers no tool under another name than its own."""
    if not run.requests:
        _asks_with_a_usual_name(scenario, implementation)
        raise NotApplicable(f"the loop refuses such a name: it {run.outcome}")
    if run.request(1).problems:
        raise NotApplicable("the loop offers the name as it is, and the service refuses it")


@requirement("offered-name-calls-its-tool")
@refusable(WHY)
@pytest.mark.parametrize("name", NAMES)
def test_the_offered_name_calls_its_tool(scenario: Scenario, implementation: Implementation, name: str) -> None:
    """The model calls the tool by the name under which it was offered."""
    run = _calls_what_is_offered(scenario, implementation, name)

    _renames(run, scenario, implementation)
    run.delivered(1)
    assert [name] == [one.tool for one in run.ran], (
        f"the call of the offered name ran {plain([one.tool for one in run.ran])}"
    )
    results = len(run.new_answers(1))
    assert results == 1, f"the turn had one call, and the next request has {amount(results, 'result')}"
    calls_echoed(run, 1)


@requirement("names-that-fall-together-stay-apart")
@refusable(WHY)
@pytest.mark.parametrize(("one", "other"), TOGETHER)
def test_names_that_fall_together(scenario: Scenario, implementation: Implementation, one: str, other: str) -> None:
    """Two tools differ in characters that may become the same, or nothing; each call runs the tool that was offered."""
    names = (one, other)
    run = _calls_what_is_offered(scenario, implementation, *names)

    _renames(run, scenario, implementation)
    found = [name for name, _ in offered(implementation.cell, run.request(1).body, names)]
    if not found:
        raise NotReached(f"the request offers neither of {' and '.join(map(repr, names))}")
    assert 2 == len({*found}), f"the tools {' and '.join(map(repr, names))} are offered as {plain(found)}"
    run.delivered(1)
    for ran in run.ran:
        assert ran.tool == ran.arguments.get("city"), f"the call of {ran.arguments.get('city')!r} has run {ran.tool!r}"
    run.delivered(len(names))
    assert sorted(names) == sorted(ran.tool for ran in run.ran)
