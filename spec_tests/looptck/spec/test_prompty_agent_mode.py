"""Profile ``prompty-agent-mode``: the loop, its limit, what ends it, and how it runs the calls of a turn."""

from __future__ import annotations

import re
from typing import Any

import pytest

from looptck.agents import Tool
from looptck.checks import Implementation, control, requirement
from looptck.expectations import answers, calls_echoed, error, tools_ran
from looptck.framing import NATURAL
from looptck.history import Said
from looptck.kit import Scene
from looptck.outcome import Failed, Value
from looptck.provider import gates
from looptck.provider.script import Hold, Step
from looptck.provider.toolbox import Returns
from looptck.run import Run
from looptck.turns import Call, Stop, Turn, calls, says
from looptck.verdicts import NotReached
from looptck.wires import WIRES

RUNAWAY = 16
"""Enough to show that neither the default limit nor a limit of at most 7 did hold."""
TWO = calls(Call.of("ping"), Call.of("weather", {"city": "Paris"}))


def _asks(n: int) -> Turn:
    return calls(Call.of("note", {"text": f"round {n}"}))


def _ran(run: Run, *tools: str) -> None:
    """These calls of the first turn ran; nothing can be said of when one ran that did not."""
    run.delivered(1)
    if left := {*tools} - {tool for tool, _ in run.tools_ran}:
        raise NotReached(f"{', '.join(sorted(left))} never ran; the loop {run.outcome}")


@requirement("mode-calls-are-executed")
def test_calls_are_executed(provider: Scene, implementation: Implementation) -> None:
    """Two calls of one turn run, each once and with its arguments."""
    provider.plays(TWO, says("18 °C."))

    run = implementation.run()

    tools_ran(run, [{"ping": {}}, {"weather": {"city": "Paris"}}])


@requirement("mode-model-is-asked-until-it-answers")
def test_rounds(provider: Scene, implementation: Implementation) -> None:
    """Four turns with calls, one after the other, lead to five requests, each with the results so far."""
    provider.plays(*map(_asks, range(1, 5)), says("That is all."))

    run = implementation.run()

    run.delivered(1)
    assert 5 == len(run.requests), f"the loop {run.outcome}"
    assert [("note", {"text": f"round {n}"}) for n in range(1, 5)] == run.tools_ran
    answers(run, 4)


@requirement("mode-answer-is-returned")
@pytest.mark.parametrize("rounds", [0, 2])
def test_answer(provider: Scene, implementation: Implementation, rounds: int) -> None:
    """The text of the last reply is the loop's value, and the model is not asked again."""
    provider.plays(*map(_asks, range(rounds)), says("It is 18 °C\nand sunny."))

    run = implementation.run()

    run.delivered(rounds + 1)
    assert "It is 18 °C\nand sunny." == run.value.text
    assert rounds + 1 == len(run.requests)


@requirement("mode-inputs-fill-the-prompt")
def test_prompt(provider: Scene, implementation: Implementation) -> None:
    """The question is the user's message of the first request."""
    provider.plays(says("Hello."))

    run = implementation.run("What is the weather in Seattle?")

    said = [item for item in run.request(1).request.items if isinstance(item, Said)]
    assert ["What is the weather in Seattle?"] == [item.text.strip() for item in said if item.role == "user"]


@requirement("mode-default-limit-is-ten")
def test_default_limit(provider: Scene, implementation: Implementation) -> None:
    """An endless conversation ends after ten model calls."""
    provider.always(_asks, most=RUNAWAY)

    run = implementation.run()

    run.delivered(1)
    assert 10 == len(run.requests)


@requirement("mode-limit-counts-cycles")
@pytest.mark.parametrize("limit", [0, 1, 3, 5])
def test_limit(provider: Scene, implementation: Implementation, limit: int) -> None:
    """With the limit N there are N model calls, none for N = 0; that there is one for N = 1 is the control."""
    provider.always(_asks, most=RUNAWAY)
    if limit == 0:
        implementation.run(limit=1).delivered(1)

    run = implementation.run(limit=limit)

    assert limit == len(run.requests)
    assert run.failed, f"the loop {run.outcome}"


@requirement("mode-last-cycle-runs-its-tools")
@pytest.mark.parametrize("limit", [1, 3])
def test_last_cycle(provider: Scene, implementation: Implementation, limit: int) -> None:
    """N model calls are N rounds of tools."""
    provider.always(_asks, most=RUNAWAY)

    run = implementation.run(limit=limit)

    run.delivered(limit)
    assert [("note", {"text": f"round {n + 1}"}) for n in range(limit)] == run.tools_ran


@requirement("mode-answer-in-the-last-cycle-is-returned")
@pytest.mark.parametrize("limit", [1, 2, 5])
def test_answer_in_the_last_cycle(provider: Scene, implementation: Implementation, limit: int) -> None:
    """N-1 rounds of tools and then an answer need a limit of N, and no more."""
    provider.plays(*map(_asks, range(limit - 1)), says("Just in time."))

    run = implementation.run(limit=limit)

    run.replied(1)
    assert isinstance(run.outcome, Value), f"the loop {run.outcome} after {len(run.requests)} model calls"
    assert "Just in time." == run.outcome.text


@requirement("mode-limit-raises-value-error")
@pytest.mark.parametrize("limit", [1, 3])
def test_limit_error_type(provider: Scene, implementation: Implementation, limit: int) -> None:
    """The error's type is ValueError."""
    provider.always(_asks, most=RUNAWAY)

    run = implementation.run(limit=limit)

    run.delivered(limit)
    error(run, {"type": "ValueError"})


@requirement("mode-limit-error-has-the-documents-text")
@pytest.mark.parametrize("limit", [1, 5])
def test_limit_error_text(provider: Scene, implementation: Implementation, limit: int) -> None:
    """The message names the limit, and says nothing else."""
    provider.always(_asks, most=RUNAWAY)

    run = implementation.run(limit=limit)

    run.delivered(limit)
    error(run, {"message": re.escape(f"Agent loop exceeded max_iterations ({limit})")})


@requirement("mode-streamed-calls-are-accumulated")
@pytest.mark.parametrize("fragment", [0, 1, 5])
def test_streamed_calls(provider: Scene, implementation: Implementation, fragment: int) -> None:
    """Three calls, in pieces of any size, run with all their arguments and are echoed whole."""
    wanted = [{"text": f"number {n}, a longer text"} for n in range(3)]
    provider.plays(
        Step(calls(*(Call.of("note", one) for one in wanted)), NATURAL.but(fragment=fragment)), says("Done.")
    )

    run = implementation.run()

    tools_ran(run, [{"note": one} for one in wanted])
    calls_echoed(run, 1)


@requirement("mode-calls-are-collected-before-any-runs")
def test_calls_are_collected(provider: Scene, implementation: Implementation) -> None:
    """The stream stops for a while where the first call is whole and the second has just begun; nothing runs."""
    early = gates.tool_begins_too_early("ping")
    begun = _events_until_the_second(implementation)
    provider.plays(Step(TWO, holds=(Hold(early, after=begun),)), says("Done."))

    run = implementation.run()

    _ran(run, "ping")
    assert [early.name] == run.gave_up, "the tool started while the model was still writing"


def _events_until_the_second(implementation: Implementation) -> int:
    """How many events of the stream of `TWO` there are with the one with which its second call begins."""
    wire = WIRES[implementation.cell.wire]
    other = calls(Call.of("ping"), Call.of("add", {"a": 1, "b": 2}))
    pairs = zip(*(wire.events(one.numbered(1), 1, NATURAL) for one in (TWO, other)), strict=False)
    return next(place for place, (one, another) in enumerate(pairs, 1) if one != another)


@requirement("mode-finish-reason-tool-calls-runs-tools")
def test_tool_calls(provider: Scene, implementation: Implementation) -> None:
    """The word tool_calls makes a tool round, whatever text stands beside the calls."""
    provider.plays(calls(*TWO.calls, text="One moment.", stop="calls"), says("Done."))

    run = implementation.run()

    tools_ran(run, [{"ping": {}}, {"weather": {"city": "Paris"}}])
    run.request(2)


@requirement("mode-other-finish-reason-is-final")
@pytest.mark.parametrize("stop", ["end", "length", "content_filter"])
def test_other_finish_reason(provider: Scene, implementation: Implementation, stop: Stop) -> None:
    """Calls in a reply that ended with another word do not run, and the model is not asked again."""
    weather = Call.of("weather", {"city": "Paris"})
    provider.plays(calls(weather), says("Done."))
    control(implementation.run(), "weather")
    provider.plays(calls(weather, text="One moment.", stop=stop), says("Done."))

    run = implementation.run()

    run.replied(1)
    assert [] == run.tools_ran
    assert 1 == len(run.requests)
    got = f"raised {run.outcome.type}" if isinstance(run.outcome, Failed) else f"returned {run.value.text!r}"
    implementation.diverges(f"text and calls in a reply that ends with {stop}", got)


@requirement("mode-functions-are-found-by-name")
def test_functions_by_name(provider: Scene, implementation: Implementation) -> None:
    """Names that begin alike, or differ in case alone, are names of different functions."""
    names = ["get_time", "get_time_zone", "Get_Time", "get"]
    tools = [Tool(name, f"Is called {name}.", {"type": "object", "properties": {}}) for name in names]
    provider.plays(calls(*(Call.of(name) for name in reversed(names))), says("Done."))

    run = implementation.run(tools=tools)

    tools_ran(run, [{name: {}} for name in names])
    answers(run, 1)


@requirement("mode-arguments-are-keywords")
@pytest.mark.parametrize(
    "arguments",
    [{"b": 2.5, "a": 1}, {"a": 1, "b": 2.5}],
    ids=["shuffled", "in-order"],
)
def test_keywords(provider: Scene, implementation: Implementation, arguments: dict[str, Any]) -> None:
    """Each value arrives under its name, with the type that it had."""
    provider.plays(calls(Call.of("add", arguments)), says("3.5"))

    run = implementation.run()

    tools_ran(run, [{"add": arguments}])


@requirement("mode-arguments-are-keywords")
def test_nested(provider: Scene, implementation: Implementation) -> None:
    """An object, a list of objects and a word arrive under their names, with all that is in them."""
    lines = [{"price": 2.5, "item": "1", "count": 1}, {"count": 2, "item": "", "price": 1e-3}]
    arguments = {"speed": "fast", "lines": lines, "customer": {"known": True, "name": "Ada"}}
    provider.plays(calls(Call.of("order", arguments)), says("3.5"))

    run = implementation.run(agent="clerk")

    tools_ran(run, [{"order": arguments}])


@requirement("mode-tools-run-one-after-the-other")
def test_one_after_the_other(provider: Scene, implementation: Implementation) -> None:
    """While the first tool is held, the second does not start; then they run in order."""
    second = gates.tool_begins_too_early("weather")
    provider.plays(TWO, says("Done."))
    provider.does("ping", Returns("pong", hold=second))

    run = implementation.run()

    _ran(run, "ping", "weather")
    assert ["ping", "weather"] == [tool for tool, _ in run.tools_ran]
    assert [second.name] == run.gave_up, "the second tool started while the first was running"
