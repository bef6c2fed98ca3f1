"""Profile ``prompty-agent-mode``: the loop, its limit, what ends it, and how the calls of a turn run."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.bench.assertions.results import answers
from looptck.bench.assertions.tool_runs import model_calls, tools_ran
from looptck.bench.assertions.turns import calls_echoed
from looptck.bench.checks import Implementation, control, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.catalogue.agents import Tool
from looptck.provider import gates
from looptck.provider.script import Hold, Step
from looptck.values.framing import DEFAULT
from looptck.values.outcome import Failed
from looptck.values.turns import Call, Stop, calls, says
from looptck.values.verdicts import NotReached
from looptck.wires import WIRES

TWO = calls(Call.of("ping"), Call.of("weather", {"city": "Paris"}))


def _ran(run: Run, *tools: str) -> None:
    """Check that these calls of the first turn ran. Raises NotReached if one did not, as its time is then unknown."""
    run.delivered(1)
    if left := {*tools} - {tool for tool, _ in run.tools_ran}:
        raise NotReached(f"{', '.join(sorted(left))} never ran; the loop {run.outcome}")


@requirement("mode-calls-are-executed")
def test_calls_are_executed(scenario: Scenario, implementation: Implementation) -> None:
    """Two calls of one turn run, each once and with its arguments."""
    scenario.plays(TWO, says("18 °C."))

    run = implementation.run()

    tools_ran(run, [{"ping": {}}, {"weather": {"city": "Paris"}}])


@requirement("mode-streamed-calls-are-accumulated")
@pytest.mark.parametrize("fragment", [0, 1, 5])
def test_streamed_calls(scenario: Scenario, implementation: Implementation, fragment: int) -> None:
    """Three calls, in pieces of any size, run with all their arguments and are echoed in full."""
    wanted = [{"text": f"number {n}, a longer text"} for n in range(3)]
    scenario.plays(
        Step(calls(*(Call.of("note", one) for one in wanted)), DEFAULT.but(fragment=fragment)), says("Done.")
    )

    run = implementation.run()

    tools_ran(run, [{"note": one} for one in wanted])
    calls_echoed(run, 1)


@requirement("mode-calls-are-collected-before-any-runs")
def test_calls_are_collected(scenario: Scenario, implementation: Implementation) -> None:
    """The stream stops for a while after the first call and the start of the second; no tool runs meanwhile."""
    early = gates.tool_begins_too_early("ping")
    begun = _events_until_the_second(implementation)
    scenario.plays(Step(TWO, holds=(Hold(early, after=begun),)), says("Done."))

    run = implementation.run()

    _ran(run, "ping")
    assert [early.name] == run.gave_up, "the tool started while the model was still writing"


def _events_until_the_second(implementation: Implementation) -> int:
    """The number of events in the stream of `TWO` up to the one that begins its second call."""
    wire = WIRES[implementation.cell.wire]
    other = calls(Call.of("ping"), Call.of("add", {"a": 1, "b": 2}))
    pairs = zip(*(wire.events(one.numbered(1), 1, DEFAULT) for one in (TWO, other)), strict=False)
    return next(place for place, (one, another) in enumerate(pairs, 1) if one != another)


@requirement("mode-finish-reason-tool-calls-runs-tools")
def test_tool_calls(scenario: Scenario, implementation: Implementation) -> None:
    """The finish reason tool_calls makes a tool round, whatever text comes with the calls."""
    scenario.plays(calls(*TWO.calls, text="One moment.", stop="calls"), says("Done."))

    run = implementation.run()

    tools_ran(run, [{"ping": {}}, {"weather": {"city": "Paris"}}])
    run.request(2)


@requirement("mode-other-finish-reason-is-final")
@pytest.mark.parametrize("stop", ["end", "length", "content_filter"])
def test_other_finish_reason(scenario: Scenario, implementation: Implementation, stop: Stop) -> None:
    """Calls in a reply with another finish reason do not run, and the model is not asked again."""
    weather = Call.of("weather", {"city": "Paris"})
    scenario.plays(calls(weather), says("Done."))
    control(implementation.run(), "weather")
    scenario.plays(calls(weather, text="One moment.", stop=stop), says("Done."))

    run = implementation.run()

    run.replied(1)
    assert [] == run.tools_ran
    model_calls(run, 1)
    got = f"raised {run.outcome.type}" if isinstance(run.outcome, Failed) else f"returned {run.value.text!r}"
    implementation.diverges(f"text and calls in a reply that ends with {stop}", got)


@requirement("mode-functions-are-found-by-name")
def test_functions_by_name(scenario: Scenario, implementation: Implementation) -> None:
    """Names that share a beginning, or differ only in case, are names of different functions."""
    names = ["get_time", "get_time_zone", "Get_Time", "get"]
    tools = [Tool(name, f"Is called {name}.", {"type": "object", "properties": {}}) for name in names]
    scenario.plays(calls(*(Call.of(name) for name in reversed(names))), says("Done."))

    run = implementation.run(tools=tools)

    tools_ran(run, [{name: {}} for name in names])
    answers(run, 1)


@requirement("mode-arguments-are-keywords")
@pytest.mark.parametrize(
    "arguments",
    [{"b": 2.5, "a": 1}, {"a": 1, "b": 2.5}],
    ids=["shuffled", "in-order"],
)
def test_keywords(scenario: Scenario, implementation: Implementation, arguments: dict[str, Any]) -> None:
    """Each value is passed under its name, with its type."""
    scenario.plays(calls(Call.of("add", arguments)), says("3.5"))

    run = implementation.run()

    tools_ran(run, [{"add": arguments}])


@requirement("mode-arguments-are-keywords")
def test_nested(scenario: Scenario, implementation: Implementation) -> None:
    """An object, a list of objects and a string are passed under their names, with all of their content."""
    lines = [{"price": 2.5, "item": "1", "count": 1}, {"count": 2, "item": "", "price": 1e-3}]
    arguments = {"speed": "fast", "lines": lines, "customer": {"known": True, "name": "Ada"}}
    scenario.plays(calls(Call.of("order", arguments)), says("3.5"))

    run = implementation.run(agent="clerk")

    tools_ran(run, [{"order": arguments}])
