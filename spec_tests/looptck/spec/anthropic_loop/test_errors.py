"""Profile ``anthropic-loop``: failed calls are fed back as errors, and the loop continues."""

from __future__ import annotations

from dataclasses import replace

import pytest

from looptck.bench.assertions.results import answered_once, answers
from looptck.bench.assertions.tool_runs import tools_ran
from looptck.bench.checks import Implementation, refusable, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.catalogue.agents import Tool, agent
from looptck.values.history import Answered
from looptck.values.turns import Call, calls, says

ADD = Call.of("add", {"a": 1, "b": 2})
ATLANTIS = Call.of("weather", {"city": "Atlantis"})
PING = Call.of("ping")
THREE = calls(ADD, ATLANTIS, PING)
RAISED = [
    ("RuntimeError", "the service is not there"),
    ("KeyError", "Atlantis"),
    ("TimeoutError", "no reply in 30 s"),
    ("PermissionError", "zwei Zeilen:\n„verboten“, 100 %"),
]
"""Types and messages of the errors that tools raise."""
ERRORS = pytest.mark.parametrize(("type", "message"), RAISED, ids=[type for type, _ in RAISED])


def _raising(scenario: Scenario, implementation: Implementation, type: str, message: str) -> Run:
    """A run in which the second of three tools raises."""
    scenario.plays(THREE, says("Two of three."))
    scenario.raises("weather", message, type)
    run = implementation.run()
    run.delivered(1)
    return run


@requirement("claude-tool-errors-are-not-thrown")
@ERRORS
def test_not_thrown(scenario: Scenario, implementation: Implementation, type: str, message: str) -> None:
    """The model is asked again, and its answer is returned."""
    run = _raising(scenario, implementation, type, message)

    assert 2 == len(run.requests), f"the model was not asked again after the failed call: the loop {run.outcome}"
    assert "Two of three." == run.value.text


@requirement("claude-failed-results-are-marked")
@pytest.mark.parametrize(
    "failing", [(), ("add",), ("weather",), ("ping",), ("add", "ping"), ("add", "weather", "ping")]
)
def test_marked(scenario: Scenario, implementation: Implementation, failing: tuple[str, ...]) -> None:
    """Of three results, exactly those of the tools that raised are marked as errors."""
    scenario.plays(THREE, says("Done."))
    for tool in failing:
        scenario.raises(tool, "it did not work")

    run = implementation.run()

    marks = {answer.id: answer.failed for answer in run.answers(1)}
    assert {call.id: call.tool in failing for call in run.delivered(1).calls} == marks


@requirement("claude-failed-results-tell-why")
@ERRORS
def test_told_why(scenario: Scenario, implementation: Implementation, type: str, message: str) -> None:
    """The result contains the error's message."""
    run = _raising(scenario, implementation, type, message)

    text = _result(run, 2).text
    assert message in text or repr(message)[1:-1] in text, f"{text!r} does not say {message!r}"


@requirement("claude-failing-call-leaves-the-others-whole")
@pytest.mark.parametrize("failing", ["add", "weather", "ping"])
def test_others_are_whole(scenario: Scenario, implementation: Implementation, failing: str) -> None:
    """Whichever of three tools raises, all of them run once, and the other two have their own results."""
    scenario.plays(THREE, says("Two of three."))
    scenario.raises(failing, "it did not work")

    run = implementation.run()

    tools_ran(run, [{"add": {"a": 1, "b": 2}}, {"weather": {"city": "Atlantis"}}, {"ping": {}}])
    answered_once(run, 1)
    answers(run, 1)


def _result(run: Run, number: int) -> Answered:
    """The result of the ``number``-th call of the first turn. Fails if the model was asked again without it."""
    wanted = run.delivered(1).calls[number - 1].id
    found = [answer for answer in run.answers(1) if answer.id == wanted]
    assert found, f"the loop continued without a result for {wanted}"
    return found[0]


def _is_reported(implementation: Implementation, run: Run, number: int, names: str = "") -> None:
    """The caller gets an error, or the model gets a marked result that contains this text."""
    run.delivered(1)
    topic = "a tool without a handler" if names else "an input that is not a JSON object"
    if len(run.requests) == 1:
        assert run.failed, f"neither the caller nor the model got an error: the loop {run.outcome}"
        implementation.diverges(topic, "an error for the caller")
        return
    result = _result(run, number)
    assert result.failed, f"{result.text!r} is not marked as an error"
    assert result.text.strip(), f"the result of {result.id} is empty"
    assert names in result.text, f"{result.text!r} does not name {names}"
    implementation.diverges(topic, "a marked result")


def _without(name: str) -> list[Tool]:
    """The assistant's tools, one of them without a handler."""
    return [replace(tool, handled=tool.name != name) for tool in agent("assistant").tools]


UNKNOWN = pytest.mark.parametrize("tool", ["teleport", "weather"], ids=["never-offered", "without-handler"])


def _unknown(scenario: Scenario, implementation: Implementation, tool: str) -> Run:
    """A run in which the second of two calls names a tool without a handler."""
    scenario.plays(calls(PING, Call.of(tool, {"city": "Paris"})), says("I cannot do that."))
    return implementation.run(tools=_without(tool))


@requirement("claude-unknown-tool-is-loud")
@UNKNOWN
def test_unknown_tool_is_loud(scenario: Scenario, implementation: Implementation, tool: str) -> None:
    """The caller gets an error, or the model gets a marked result that names the tool."""
    run = _unknown(scenario, implementation, tool)

    _is_reported(implementation, run, 2, names=tool)


@requirement("claude-unknown-tool-is-never-unanswered")
@UNKNOWN
def test_unknown_tool_is_answered(scenario: Scenario, implementation: Implementation, tool: str) -> None:
    """If the model is asked again, both calls have one result each; otherwise the loop has failed."""
    run = _unknown(scenario, implementation, tool)

    run.delivered(1)
    if len(run.requests) == 1:
        assert run.failed, f"the loop {run.outcome}"
        return
    answered_once(run, 1)
    answers(run, 1)


A_LIST = refusable("No service lets a model write a list as tool input, so how it treats the echo is unspecified.")
BROKEN = [
    pytest.param('{"city": "Par', id="cut"),
    pytest.param('{"city": "Paris",}', id="comma"),
    pytest.param("Paris", id="bare"),
    pytest.param('["Paris"]', id="list", marks=A_LIST),
    pytest.param('{"city": "Paris"} please', id="more"),
]
"""Invalid inputs as models write them."""


@requirement("claude-invalid-input-is-told")
@pytest.mark.parametrize("written", BROKEN)
def test_invalid_input_is_told(scenario: Scenario, implementation: Implementation, written: str) -> None:
    """The caller gets an error, or the model gets a marked result."""
    scenario.plays(calls(PING, Call("weather", written)), says("I could not tell."))

    run = implementation.run()

    _is_reported(implementation, run, 2)
