"""Profile ``prompty-agent-mode``: what is wrong with a call is fed back to the model, and the loop goes on."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from looptck.agents import agent
from looptck.checks import Implementation, control, on, requirement
from looptck.expectations import answers, tools_ran
from looptck.kit import Scene
from looptck.run import Run
from looptck.turns import Call, calls, says
from looptck.verdicts import NotReached

SAYABLE = ("openai-chat", "openai-responses", "anthropic-messages/stream/*")
"""The cells in which a model can write arguments that are no JSON."""
BROKEN = {
    "cut": '{"city": "Par',
    "no-brace": '{"city": "Paris"',
    "comma": '{"city": "Paris",}',
    "quotes": "{'city': 'Paris'}",
    "bare": "Paris",
    "more": '{"city": "Paris"} please',
}
"""Arguments in the ways in which models spoil them."""
PARIS = Call.of("weather", {"city": "Paris"})
ERROR = r"error|fail|invalid|malformed|unable|cannot|could not|not found|no such|unknown|exception"
"""What tells a model, in whatever words, that its call went wrong."""


def _fed_back(run: Run, n: int = 1) -> str:
    """The text by which the ``n``-th call of the first turn is answered; fails where the loop did not go on."""
    wanted = run.delivered(1).calls[n - 1]
    assert len(run.requests) > 1, f"the model was not told: the loop {run.outcome}"
    told = [answer.text for answer in run.new_answers(1) if answer.id == wanted.id]
    assert told, f"the loop went on without a result for {wanted.id}"
    return told[0]


def _words(run: Run) -> str:
    """The text by which the first call is answered. Raises NotReached where there is none to be read."""
    wanted = run.delivered(1).calls[0]
    told = [answer.text for answer in run.new_answers(1) if answer.id == wanted.id]
    if not told:
        raise NotReached(f"the loop went on without a result for {wanted.id}")
    return told[0]


def _tells(text: str, what: str) -> None:
    assert re.search(ERROR, text, re.IGNORECASE), f"{text!r} does not say that there was an error"
    assert re.search(what, text, re.IGNORECASE), f"{text!r} does not say what was wrong"


def _answered(run: Run, requests: int) -> None:
    """The loop has gone on to its answer."""
    assert requests == len(run.requests), f"the loop {run.outcome}"
    assert "Done." == run.value.text


@requirement("mode-bad-arguments-are-fed-back")
@on(*SAYABLE)
@pytest.mark.parametrize("written", BROKEN.values(), ids=BROKEN)
def test_bad_arguments(provider: Scene, implementation: Implementation, written: str) -> None:
    """The result speaks of the arguments, and the loop goes on to the answer."""
    provider.plays(calls(Call("weather", written)), says("Done."))

    run = implementation.run()

    _tells(_fed_back(run), "argument|json|pars|decod")
    _answered(run, 2)


@requirement("mode-bad-arguments-are-fed-back")
@on(*SAYABLE)
def test_corrected_arguments(provider: Scene, implementation: Implementation) -> None:
    """The call that the model has corrected runs, with what it wrote then."""
    provider.plays(calls(Call("weather", BROKEN["cut"])), calls(PARIS), says("Done."))

    run = implementation.run()

    _fed_back(run)
    tools_ran(run, [{"weather": {"city": "Paris"}}])
    _answered(run, 3)


@requirement("mode-bad-arguments-run-nothing")
@on(*SAYABLE)
@pytest.mark.parametrize("written", BROKEN.values(), ids=BROKEN)
def test_bad_arguments_run_nothing(provider: Scene, implementation: Implementation, written: str) -> None:
    """The tool is not called, neither with half of the arguments nor with none; with whole ones it is."""
    provider.plays(calls(PARIS), says("Done."))
    control(implementation.run(), "weather")
    provider.plays(calls(Call("weather", written)), says("Done."))

    run = implementation.run()

    run.delivered(1)
    assert [] == run.tools_ran


@requirement("mode-bad-arguments-have-the-documents-text")
@on(*SAYABLE)
@pytest.mark.parametrize("written", BROKEN.values(), ids=BROKEN)
def test_bad_arguments_text(provider: Scene, implementation: Implementation, written: str) -> None:
    """The document's words, and behind them those of whatever parser there is."""
    provider.plays(calls(Call("weather", written)), says("Done."))

    run = implementation.run()

    text = _words(run)
    assert re.fullmatch(r"Error parsing arguments: \S.*", text, re.DOTALL), text


RAISED = [
    ("ConnectionTimeout", "API unreachable"),
    ("ValueError", "there is no such city"),
    ("KeyError", "city"),
    ("TypeError", "city must be a str, not {city}"),
    ("JSONDecodeError", "Expecting value: line 1 column 1 (char 0)"),
    ("PermissionError", "zwei Zeilen:\n„verboten“, 100 %"),
]
"""Types and messages of what tools raise."""


@requirement("mode-raising-tool-is-fed-back")
@pytest.mark.parametrize(("type", "message"), RAISED, ids=[type for type, _ in RAISED])
def test_raising_tool(provider: Scene, implementation: Implementation, type: str, message: str) -> None:
    """The result speaks of an error and holds its message, and the loop goes on to the answer."""
    provider.plays(calls(PARIS), says("Done."))
    provider.raises("weather", message, type)

    run = implementation.run()

    _tells(_fed_back(run), re.escape(message))
    _answered(run, 2)


@requirement("mode-raising-tool-is-fed-back")
def test_every_tool_raises(provider: Scene, implementation: Implementation) -> None:
    """Each of two raising calls of a turn, and of another in the next, is answered with its own error."""
    provider.plays(calls(PARIS, Call.of("ping")), calls(Call.of("ping")), says("Done."))
    provider.raises("weather", "no city", "LookupError")
    provider.raises("ping", "no line", "OSError")

    run = implementation.run()

    _tells(_fed_back(run, 1), "no city")
    _tells(_fed_back(run, 2), "no line")
    _answered(run, 3)


@requirement("mode-raising-tool-has-the-documents-text")
@pytest.mark.parametrize(("type", "message"), RAISED, ids=[type for type, _ in RAISED])
def test_raising_tool_text(provider: Scene, implementation: Implementation, type: str, message: str) -> None:
    """The document's words with name, type and message, and nothing else."""
    provider.plays(calls(PARIS), says("Done."))
    provider.raises("weather", message, type)

    run = implementation.run()

    assert f"Error executing weather: {type}: {message}" == _words(run)


def _unknown(provider: Scene, implementation: Implementation, name: str) -> Run:
    """A run in which the model calls a tool that has no function: ``weather``, or one that it invented."""
    tools = [replace(tool, handled=tool.name != "weather") for tool in agent("assistant").tools]
    provider.plays(calls(Call.of(name, {"city": "Paris"})), says("Done."))
    return implementation.run(tools=tools)


@requirement("mode-unknown-tool-is-fed-back")
@pytest.mark.parametrize("name", ["weather", "unknown_tool"], ids=["declared", "invented"])
def test_unknown_tool(provider: Scene, implementation: Implementation, name: str) -> None:
    """The result names the tool, whether it was declared or not, and the loop goes on to the answer."""
    run = _unknown(provider, implementation, name)

    _tells(_fed_back(run), re.escape(name))
    _answered(run, 2)
    assert [] == run.tools_ran


@requirement("mode-unknown-tool-has-the-documents-text")
@pytest.mark.parametrize("name", ["weather", "unknown_tool"], ids=["declared", "invented"])
def test_unknown_tool_text(provider: Scene, implementation: Implementation, name: str) -> None:
    """The document's words with the name, and nothing else."""
    run = _unknown(provider, implementation, name)

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
    provider: Scene, implementation: Implementation, failing: Call, ran: list[dict[str, object]]
) -> None:
    """Of three calls the middle one fails; the other two run, and each gets its own result."""
    provider.plays(calls(Call.of("ping"), failing, Call.of("note", {"text": "x"})), says("Done."))
    provider.raises("weather", "no city", "LookupError")

    run = implementation.run()

    _tells(_fed_back(run, 2), "")
    tools_ran(run, [{"ping": {}}, *ran, {"note": {"text": "x"}}])
    assert ["call_1a", "call_1b", "call_1c"] == [answer.id for answer in run.new_answers(1)]
    answers(run, 1)
