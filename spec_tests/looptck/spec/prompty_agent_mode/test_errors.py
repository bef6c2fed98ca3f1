"""Profile ``prompty-agent-mode``: errors in calls are fed back to the model, and the loop continues."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from looptck.bench.assertions.results import answers
from looptck.bench.assertions.tool_runs import tools_ran
from looptck.bench.checks import Implementation, control, on, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.catalogue.agents import agent
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotReached

SAYABLE = ("openai-chat", "openai-responses", "anthropic-messages/stream/*")
"""The cells in which a model can write arguments that are not JSON."""
BROKEN = {
    "cut": '{"city": "Par',
    "no-brace": '{"city": "Paris"',
    "comma": '{"city": "Paris",}',
    "quotes": "{'city': 'Paris'}",
    "bare": "Paris",
    "more": '{"city": "Paris"} please',
}
"""Invalid arguments as models write them."""
PARIS = Call.of("weather", {"city": "Paris"})
ERROR = r"error|fail|invalid|malformed|unable|cannot|could not|not found|no such|unknown|exception"
"""Words that report an error to the model, in any phrasing."""


def _fed_back(run: Run, n: int = 1) -> str:
    """The result of the ``n``-th call of the first turn. Fails if the loop did not continue."""
    wanted = run.delivered(1).calls[n - 1]
    assert len(run.requests) > 1, f"the model was not asked again after the failed call: the loop {run.outcome}"
    results = [answer.text for answer in run.new_answers(1) if answer.id == wanted.id]
    assert results, f"the loop continued without a result for {wanted.id}"
    return results[0]


def _words(run: Run) -> str:
    """The result of the first call. Raises NotReached if there is none."""
    wanted = run.delivered(1).calls[0]
    results = [answer.text for answer in run.new_answers(1) if answer.id == wanted.id]
    if not results:
        raise NotReached(f"the loop continued without a result for {wanted.id}")
    return results[0]


def _reports_error(text: str, what: str) -> None:
    assert re.search(ERROR, text, re.IGNORECASE), f"{text!r} does not say that there was an error"
    assert re.search(what, text, re.IGNORECASE), (
        f"the result {text!r} does not say what was wrong with this call: {what}"
    )


def _answered(run: Run, requests: int) -> None:
    """Assert that the loop has continued to its answer."""
    assert requests == len(run.requests), f"the loop {run.outcome}"
    assert "Done." == run.value.text


@requirement("mode-bad-arguments-are-fed-back")
@on(*SAYABLE)
@pytest.mark.parametrize("written", BROKEN.values(), ids=BROKEN)
def test_bad_arguments(scenario: Scenario, implementation: Implementation, written: str) -> None:
    """The result mentions the arguments, and the loop continues to the answer."""
    scenario.plays(calls(Call("weather", written)), says("Done."))

    run = implementation.run()

    _reports_error(_fed_back(run), "argument|json|pars|decod")
    _answered(run, 2)


@requirement("mode-bad-arguments-are-fed-back")
@on(*SAYABLE)
def test_corrected_arguments(scenario: Scenario, implementation: Implementation) -> None:
    """The call with corrected arguments runs with these."""
    scenario.plays(calls(Call("weather", BROKEN["cut"])), calls(PARIS), says("Done."))

    run = implementation.run()

    _fed_back(run)
    tools_ran(run, [{"weather": {"city": "Paris"}}])
    _answered(run, 3)


@requirement("mode-bad-arguments-run-nothing")
@on(*SAYABLE)
@pytest.mark.parametrize("written", BROKEN.values(), ids=BROKEN)
def test_bad_arguments_run_nothing(scenario: Scenario, implementation: Implementation, written: str) -> None:
    """The tool does not run, neither with part of the arguments nor with none; with valid arguments it does."""
    scenario.plays(calls(PARIS), says("Done."))
    control(implementation.run(), "weather")
    scenario.plays(calls(Call("weather", written)), says("Done."))

    run = implementation.run()

    run.delivered(1)
    assert [] == run.tools_ran


@requirement("mode-bad-arguments-have-the-documents-text")
@on(*SAYABLE)
@pytest.mark.parametrize("written", BROKEN.values(), ids=BROKEN)
def test_bad_arguments_text(scenario: Scenario, implementation: Implementation, written: str) -> None:
    """The documented prefix, followed by any parser's message."""
    scenario.plays(calls(Call("weather", written)), says("Done."))

    run = implementation.run()

    text = _words(run)
    assert re.fullmatch(r"Error parsing arguments: \S.*", text, re.DOTALL), (
        f"the result reads {text!r}, not 'Error parsing arguments: ' and what the parser says"
    )


RAISED = [
    ("ConnectionTimeout", "API unreachable"),
    ("ValueError", "there is no such city"),
    ("KeyError", "city"),
    ("TypeError", "city must be a str, not {city}"),
    ("JSONDecodeError", "Expecting value: line 1 column 1 (char 0)"),
    ("PermissionError", "zwei Zeilen:\n„verboten“, 100 %"),
]
"""Types and messages of the errors that tools raise."""


@requirement("mode-raising-tool-is-fed-back")
@pytest.mark.parametrize(("type", "message"), RAISED, ids=[type for type, _ in RAISED])
def test_raising_tool(scenario: Scenario, implementation: Implementation, type: str, message: str) -> None:
    """The result mentions an error and contains its message, and the loop continues to the answer."""
    scenario.plays(calls(PARIS), says("Done."))
    scenario.raises("weather", message, type)

    run = implementation.run()

    run.ran_of("weather")
    _reports_error(_fed_back(run), re.escape(message))
    _answered(run, 2)


@requirement("mode-raising-tool-is-fed-back")
def test_every_tool_raises(scenario: Scenario, implementation: Implementation) -> None:
    """Two calls of a turn and one of the next turn raise; each is answered with its own error."""
    scenario.plays(calls(PARIS, Call.of("ping")), calls(Call.of("ping")), says("Done."))
    scenario.raises("weather", "no city", "LookupError")
    scenario.raises("ping", "no line", "OSError")

    run = implementation.run()

    run.ran_of("weather")
    _reports_error(_fed_back(run, 1), "no city")
    _reports_error(_fed_back(run, 2), "no line")
    _answered(run, 3)


@requirement("mode-raising-tool-has-the-documents-text")
@pytest.mark.parametrize(("type", "message"), RAISED, ids=[type for type, _ in RAISED])
def test_raising_tool_text(scenario: Scenario, implementation: Implementation, type: str, message: str) -> None:
    """The documented text with name, type and message, and nothing else."""
    scenario.plays(calls(PARIS), says("Done."))
    scenario.raises("weather", message, type)

    run = implementation.run()

    run.ran_of("weather")
    assert f"Error executing weather: {type}: {message}" == _words(run)


def _unknown(scenario: Scenario, implementation: Implementation, name: str) -> Run:
    """A run in which the model calls a tool without a function: ``weather``, or an invented one."""
    tools = [replace(tool, handled=tool.name != "weather") for tool in agent("assistant").tools]
    scenario.plays(calls(Call.of(name, {"city": "Paris"})), says("Done."))
    return implementation.run(tools=tools)


@requirement("mode-unknown-tool-is-fed-back")
@pytest.mark.parametrize("name", ["weather", "unknown_tool"], ids=["declared", "invented"])
def test_unknown_tool(scenario: Scenario, implementation: Implementation, name: str) -> None:
    """The result names the tool, declared or not, and the loop continues to the answer."""
    run = _unknown(scenario, implementation, name)

    _reports_error(_fed_back(run), re.escape(name))
    _answered(run, 2)
    assert [] == run.tools_ran


@requirement("mode-unknown-tool-has-the-documents-text")
@pytest.mark.parametrize("name", ["weather", "unknown_tool"], ids=["declared", "invented"])
def test_unknown_tool_text(scenario: Scenario, implementation: Implementation, name: str) -> None:
    """The documented text with the name, and nothing else."""
    run = _unknown(scenario, implementation, name)

    assert f"Error: tool '{name}' not found in tools dict" == _words(run)


@requirement("mode-failing-call-leaves-the-others-whole")
@pytest.mark.parametrize(
    ("failing", "ran"),
    [
        pytest.param(Call("weather", BROKEN["cut"]), [], id="bad-arguments", marks=on(*SAYABLE)),
        pytest.param(PARIS, [{"weather": {"city": "Paris"}}], id="raising"),
        pytest.param(Call.of("unknown_tool"), [], id="unknown"),
    ],
)
def test_other_calls(
    scenario: Scenario, implementation: Implementation, failing: Call, ran: list[dict[str, object]]
) -> None:
    """The middle one of three calls fails; the other two run, and each gets its own result."""
    scenario.plays(calls(Call.of("ping"), failing, Call.of("note", {"text": "x"})), says("Done."))
    scenario.raises("weather", "no city", "LookupError")

    run = implementation.run()

    _reports_error(_fed_back(run, 2), "")
    tools_ran(run, [{"ping": {}}, *ran, {"note": {"text": "x"}}])
    assert ["call_1a", "call_1b", "call_1c"] == [answer.id for answer in run.new_answers(1)]
    answers(run, 1)
