"""Profile ``agent-loop-010``: parameters and output paths that name several paths."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.checks import Implementation, on, requirement
from looptck.kit import Scene
from looptck.provider import gates
from looptck.provider.toolbox import Returns
from looptck.solutions import call, solution, texts, told_errors
from looptck.spec.probes import DONE, probed, probing, tools
from looptck.verdicts import NotReached

FALSY: dict[str, Any] = {"zero": 0, "false": False, "empty-text": "", "empty-array": [], "empty-object": {}}
"""Values that exist all the same."""

EITHER = call("either", {"value": "†state.x || †state.y"})
BOTH = call("both", {"value": "†state.x && †state.y"})
X, Y = call("x", to="†state.x"), call("y", to="†state.y")
READ = {"x": call("read", {"value": "†state.x"}), "y": call("read", {"value": "†state.y"})}
"""By what has come first, the call that begins with it."""


@requirement("loop010-input-expressions")
@pytest.mark.parametrize("value", FALSY.values(), ids=FALSY)
def test_existence_decides(provider: Scene, implementation: Implementation, value: Any) -> None:
    """Of two that exist the first is taken, and of two that are needed both are there, though the first is falsy."""
    context = [{"type": "state", "x": value, "y": "the other"}]
    provider.plays(solution(EITHER, BOTH), DONE)

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
"""Parameters, and what they stand for."""


@requirement("loop010-input-expressions")
@pytest.mark.parametrize(("written", "meant"), ALTERNATIVES.values(), ids=ALTERNATIVES)
def test_what_expressions_stand_for(provider: Scene, implementation: Implementation, written: Any, meant: Any) -> None:
    """The first alternative that exists, and the last of several that all do."""
    context: list[dict[str, Any]] = [
        {"type": "state", "x": "the one", "y": "the other"},
        {"type": "data", "kind": "user", "data": {"name": "Alex"}},
    ]
    provider.plays(solution(call("use", {"value": written})), DONE)

    run = implementation.run(tools=tools("use"), context=context)

    run.request(2)
    assert {"value": meant} == run.ran_of("use").arguments


@requirement("loop010-input-expressions")
@pytest.mark.parametrize(("first", "second"), [("x", "y"), ("y", "x")])
def test_either_unblocks(provider: Scene, implementation: Implementation, first: str, second: str) -> None:
    """Of two alternatives that are being written the one that comes first is taken, and the other not waited for."""
    provider.returns(first, "what came first")
    provider.does(second, Returns("what came later", hold=gates.tool_began("either")))
    provider.plays(solution(EITHER, X, Y), DONE)

    run = implementation.run(tools=tools("either", "x", "y"))

    run.request(2)
    assert {"value": "what came first"} == run.ran_of("either").arguments
    assert [] == run.gave_up, "the call waited for the other alternative"


@requirement("loop010-input-expressions")
@pytest.mark.parametrize(("first", "second"), [("x", "y"), ("y", "x")])
def test_all_are_waited_for(provider: Scene, implementation: Implementation, first: str, second: str) -> None:
    """One of two is there, and has been read by another call: what asks for both begins when the other has come."""
    provider.returns(first, f"the value of {first}")
    provider.does(second, Returns(f"the value of {second}", hold=gates.tool_began("read")))
    provider.plays(solution(BOTH, X, Y, READ[first]), DONE)

    run = implementation.run(tools=tools("both", "x", "y", "read"))

    run.request(2)
    if run.gave_up:
        raise NotReached(f"{second} should have ended when the value of {first} had been read")
    assert {"value": "the value of y"} == run.ran_of("both").arguments
    assert run.tool_ended(second) <= run.tool_began("both")


@requirement("loop010-input-expressions")
@on("openai-chat")
def test_whether_null_exists(provider: Scene, implementation: Implementation) -> None:
    """Whether a path that holds null is one that exists is left open."""
    provider.plays(solution(EITHER), DONE)

    run = implementation.run(tools=tools("either"), context=[{"type": "state", "x": None, "y": "the other"}])

    run.request(2)
    given: Any = run.ran_of("either").arguments
    assert given in ({"value": None}, {"value": "the other"})
    implementation.diverges("a path that holds null", "exists" if given["value"] is None else "does not exist")


@requirement("loop010-output-expressions")
@pytest.mark.parametrize("paths", [("state.x", "state.y"), ("state.a.b", "audit.a.b", "data.c")], ids=["two", "three"])
def test_several_are_all_written(provider: Scene, implementation: Implementation, paths: tuple[str, ...]) -> None:
    """A result stands at every path, for a call of its turn that needs two of them and for the next turn."""
    provider.returns("fetch", {"the": "result"})
    use = call("use", {"value": f"†{paths[0]}", "other": f"†{paths[-1]}"})
    provider.plays(solution(use, call("fetch", to=" && ".join(f"†{path}" for path in paths))), probing(*paths), DONE)

    run = implementation.run(tools=tools("fetch", "use"))

    assert {path: {"the": "result"} for path in paths} == probed(run, 2)
    assert {"value": {"the": "result"}, "other": {"the": "result"}} == run.ran_of("use").arguments


@requirement("loop010-output-expressions")
@pytest.mark.parametrize("paths", [("state.x", "state.y"), ("audit.x", "state.x", "state.y")], ids=["two", "three"])
def test_alternatives_are_written_at_the_first(
    provider: Scene, implementation: Implementation, paths: tuple[str, ...]
) -> None:
    """A result that is no Message stands there and nowhere else, be it falsy."""
    provider.returns("fetch", False)
    provider.plays(solution(call("fetch", to=" || ".join(f"†{path}" for path in paths))), probing(*paths), DONE)

    run = implementation.run(tools=tools("fetch"))

    assert {paths[0]: False} == probed(run, 2)


@requirement("loop010-output-expressions")
def test_a_message_takes_its_own_alternative(provider: Scene, implementation: Implementation) -> None:
    """A returned Message that writes the second path unblocks what waits for that, and nothing is at the first."""
    provider.returns("fetch", {"type": "data", "kind": "state", "data": {"failed": "why"}})
    provider.plays(
        solution(call("fetch", to="†state.done || †state.failed"), call("use", {"value": "†state.failed"})),
        probing("state.done", "state.failed"),
        DONE,
    )

    run = implementation.run(tools=tools("fetch", "use"))

    assert {"state.failed": "why"} == probed(run, 2)
    assert {"value": "why"} == run.ran_of("use").arguments


@requirement("loop010-output-expressions")
@on("openai-chat")
def test_a_raising_tool_with_alternatives(provider: Scene, implementation: Implementation) -> None:
    """Whether what a tool raises is written at the second path, or told as an error, is left open."""
    provider.raises("fetch", "marker7431")
    provider.plays(solution(call("fetch", to="†state.done || †state.error")), probing("state.error"), DONE)

    run = implementation.run(tools=tools("fetch"))

    told = probed(run, 2)
    if "marker7431" not in texts(run.request(2)) and not told:
        raise NotReached("nobody was told of what the tool has raised")
    errors = len(told_errors(run.request(2))) > len(told_errors(run.request(1)))
    answers = [*(["is told as an error"] if errors else []), *(["is at the second path"] if told else [])]
    implementation.diverges("what a tool with alternative output paths raises", " and ".join(answers))
