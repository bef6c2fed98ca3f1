"""Profile ``agent-loop-010``: parameters and output paths that name several paths."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.bench.checks import Implementation, on, requirement
from looptck.bench.scenario import Scenario
from looptck.bench.solutions import call, error_messages, solution, texts
from looptck.provider import gates
from looptck.provider.toolbox import Returns
from looptck.spec.agent_loop_010.probes import DONE, probe_turn, probed_values, tools
from looptck.values.plain import plain
from looptck.values.verdicts import NotReached

FALSY: dict[str, Any] = {"zero": 0, "false": False, "empty-text": "", "empty-array": [], "empty-object": {}}
"""Values that exist, although they are falsy."""

EITHER = call("either", {"value": "†state.x || †state.y"}, to="†state.either")
BOTH = call("both", {"value": "†state.x && †state.y"}, to="†state.both")
X, Y = call("x", to="†state.x"), call("y", to="†state.y")
READ = {name: call("read", {"value": f"†state.{name}"}, to="†state.read") for name in ("x", "y")}
"""For each value that arrives first, the call that begins with it."""


@requirement("loop010-input-expressions")
@pytest.mark.parametrize("value", FALSY.values(), ids=FALSY)
def test_existence_decides(scenario: Scenario, implementation: Implementation, value: Any) -> None:
    """The first of two existing alternatives is used, and two required values both exist, though one is falsy."""
    context = [{"type": "state", "x": value, "y": "the other"}]
    scenario.plays(solution(EITHER, BOTH), DONE)

    run = implementation.run(tools=tools("either", "both"), context=context)

    run.request(2)
    assert [{"value": value}] == run.arguments_of("either")[:1]
    assert [{"value": "the other"}] == run.arguments_of("both")[:1]


ALTERNATIVES: dict[str, tuple[Any, Any]] = {
    "the-second": ("†state.none || †state.y", "the other"),
    "the-third": ("†state.none || †input.none || †state.y", "the other"),
    "the-first-of-three": ("†state.x || †state.none || †state.y", "the one"),
    "the-second-of-three": ("†state.none || †state.y || †state.x", "the other"),
    "another-kind": ("†input.none || †user.name", "Alex"),
    "nested": ({"deep": ["†state.none || †state.x"]}, {"deep": ["the one"]}),
    "all-of-three": ("†state.y && †user.name && †state.x", "the one"),
    "all-nested": ([{"deep": "†state.x && †user.name"}], [{"deep": "Alex"}]),
}
"""Parameters and their resolved values."""


@requirement("loop010-input-expressions")
@pytest.mark.parametrize(("written", "meant"), ALTERNATIVES.values(), ids=ALTERNATIVES)
def test_what_expressions_stand_for(
    scenario: Scenario, implementation: Implementation, written: Any, meant: Any
) -> None:
    """An expression yields its first existing alternative, or the last of several values that all exist."""
    context: list[dict[str, Any]] = [
        {"type": "state", "x": "the one", "y": "the other"},
        {"type": "data", "kind": "user", "data": {"name": "Alex"}},
    ]
    scenario.plays(solution(call("use", {"value": written}, to="†state.used")), DONE)

    run = implementation.run(tools=tools("use"), context=context)

    run.request(2)
    given = run.ran_of("use").arguments
    assert {"value": meant} == given, f"{plain(written)} stands for {plain(meant)}, and the tool got {plain(given)}"


@requirement("loop010-input-expressions")
@pytest.mark.parametrize(("first", "second"), [("x", "y"), ("y", "x")])
def test_either_unblocks(scenario: Scenario, implementation: Implementation, first: str, second: str) -> None:
    """Of two pending alternatives, the one that is written first is used, and the other one is not waited for."""
    scenario.returns(first, "what came first")
    scenario.does(second, Returns("what came later", hold=gates.tool_began("either")))
    scenario.plays(solution(EITHER, X, Y, READ[first]), DONE)

    run = implementation.run(tools=tools("either", "x", "y", "read"))

    run.request(2)
    if run.gave_up and run.tool_began("read") > run.tool_ended(second):
        raise NotReached(f"control: a call that refers to {first} alone waited for {second} too")
    assert {"value": "what came first"} == run.ran_of("either").arguments
    assert [] == run.gave_up, "the call waited for the second alternative"


@requirement("loop010-input-expressions")
@pytest.mark.parametrize(("first", "second"), [("x", "y"), ("y", "x")])
def test_all_are_waited_for(scenario: Scenario, implementation: Implementation, first: str, second: str) -> None:
    """One of two values exists and was read by another call; a call that needs both begins once the other exists."""
    scenario.returns(first, f"the value of {first}")
    scenario.does(second, Returns(f"the value of {second}", hold=gates.tool_began("read")))
    scenario.plays(solution(BOTH, X, Y, READ[first]), DONE)

    run = implementation.run(tools=tools("both", "x", "y", "read"))

    run.request(2)
    if run.gave_up:
        raise NotReached(f"{second} should have ended when the value of {first} had been read")
    assert {"value": "the value of y"} == run.ran_of("both").arguments
    ended, began = run.tool_ended(second), run.tool_began("both")
    assert ended <= began, f"`both` reads the results of x and y, and began before {second} had ended"


@requirement("loop010-input-expressions")
@on("openai-chat")
def test_whether_null_exists(scenario: Scenario, implementation: Implementation) -> None:
    """Whether a path that holds null exists is left open."""
    scenario.plays(solution(EITHER), DONE)

    run = implementation.run(tools=tools("either"), context=[{"type": "state", "x": None, "y": "the other"}])

    run.request(2)
    given: Any = run.ran_of("either").arguments
    assert given in ({"value": None}, {"value": "the other"})
    implementation.diverges("a path that holds null", "exists" if given["value"] is None else "does not exist")


@requirement("loop010-output-expressions")
@pytest.mark.parametrize("paths", [("state.x", "state.y"), ("state.a.b", "audit.a.b", "data.c")], ids=["two", "three"])
def test_several_are_all_written(scenario: Scenario, implementation: Implementation, paths: tuple[str, ...]) -> None:
    """A result is stored at every path, for a call in its turn that needs both and for the next turn."""
    scenario.returns("fetch", {"the": "result"})
    use = call("use", {"value": f"†{paths[0]}", "other": f"†{paths[-1]}"}, to="†state.used")
    scenario.plays(solution(use, call("fetch", to=" && ".join(f"†{path}" for path in paths))), probe_turn(*paths), DONE)

    run = implementation.run(tools=tools("fetch", "use"))

    assert {path: {"the": "result"} for path in paths} == probed_values(run, 2)
    assert {"value": {"the": "result"}, "other": {"the": "result"}} == run.ran_of("use").arguments


@requirement("loop010-output-expressions")
@pytest.mark.parametrize("paths", [("state.x", "state.y"), ("audit.x", "state.x", "state.y")], ids=["two", "three"])
def test_alternatives_are_written_at_the_first(
    scenario: Scenario, implementation: Implementation, paths: tuple[str, ...]
) -> None:
    """A result that is not a Message is stored at the first path only, even if it is falsy."""
    scenario.returns("fetch", False)
    scenario.plays(solution(call("fetch", to=" || ".join(f"†{path}" for path in paths))), probe_turn(*paths), DONE)

    run = implementation.run(tools=tools("fetch"))

    assert {paths[0]: False} == probed_values(run, 2)


@requirement("loop010-output-expressions")
def test_a_message_takes_its_own_alternative(scenario: Scenario, implementation: Implementation) -> None:
    """A returned Message that writes the second path unblocks its readers, and the first path stays empty."""
    scenario.returns("fetch", {"type": "data", "kind": "state", "data": {"failed": "why"}})
    use = call("use", {"value": "†state.failed"}, to="†state.used")
    scenario.plays(
        solution(call("fetch", to="†state.done || †state.failed"), use),
        probe_turn("state.done", "state.failed"),
        DONE,
    )

    run = implementation.run(tools=tools("fetch", "use"))

    assert {"state.failed": "why"} == probed_values(run, 2)
    assert {"value": "why"} == run.ran_of("use").arguments


@requirement("loop010-output-expressions")
@on("openai-chat")
def test_a_raising_tool_with_alternatives(scenario: Scenario, implementation: Implementation) -> None:
    """Whether a raised error is stored at the second path, or reported as an error, is left open."""
    scenario.raises("fetch", "marker7431")
    scenario.plays(solution(call("fetch", to="†state.done || †state.error")), probe_turn("state.error"), DONE)

    run = implementation.run(tools=tools("fetch"))

    shown = probed_values(run, 2)
    if "marker7431" not in texts(run.request(2)) and not shown:
        raise NotReached("the error that the tool raised appears nowhere")
    errors = len(error_messages(run.request(2))) > len(error_messages(run.request(1)))
    answers = [*(["is reported as an error"] if errors else []), *(["is at the second path"] if shown else [])]
    implementation.diverges("the error of a tool with alternative output paths", " and ".join(answers))
