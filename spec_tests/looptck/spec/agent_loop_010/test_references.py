"""Profile ``agent-loop-010``: the values that tools get for the references in their calls."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.bench.checks import Implementation, requirement
from looptck.bench.scenario import Scenario
from looptck.bench.solutions import activity, call, solution
from looptck.provider.script import Step
from looptck.spec.agent_loop_010.probes import DONE, probe_turn, probed_values, tools
from looptck.values.framing import PRESETS
from looptck.values.plain import plain

FETCH = call("fetch", to="†state.x")
USE = call("use", {"value": "†state.x"}, to="†state.used")

RESULTS: dict[str, Any] = {
    "text": "Zürich: “fine”, 😀",
    "integer": -7,
    "number": 0.5,
    "false": False,
    "empty": "",
    "array": [1, "two", [3.5, None], {}],
    "object": {"name": "Alex", "tags": ["a"], "nothing": None},
}
"""Values of every type, some of them falsy."""


@requirement("loop010-references-are-resolved")
@pytest.mark.parametrize("value", RESULTS.values(), ids=RESULTS)
def test_results_are_handed_on(scenario: Scenario, implementation: Implementation, value: Any) -> None:
    """A call gets the value that another call wrote, with its type."""
    scenario.returns("fetch", value)
    scenario.plays(solution(FETCH, USE), DONE)

    run = implementation.run(tools=tools("fetch", "use"))

    run.request(2)
    run.tool_ended("fetch")
    ran = run.arguments_of("use")
    assert ran, f"fetch returned {value!r}, and the call that refers to it never ran; the loop {run.outcome}"
    assert [{"value": value}] == ran


@requirement("loop010-references-are-resolved")
def test_references_are_torn(scenario: Scenario, implementation: Implementation) -> None:
    """The reply is torn inside the daggers of its references, and goes on when the loop has read what it was sent."""
    use = call("use", {"value": "†state.x", "other": ["†state.x", "Zoë"]}, to="†state.y")
    scenario.plays(Step(solution(FETCH, use), PRESETS["torn"]), probe_turn("state.x", "state.y"), DONE)

    run = implementation.run(tools=tools("fetch", "use"))

    run.request(2)
    fetched, used = "result 1 of fetch", "result 1 of use"
    ran = run.arguments_of("use")
    how = f"ran with {plain(ran)}" if ran else "never ran"
    wanted = {"value": fetched, "other": [fetched, "Zoë"]}
    assert [wanted] == ran, f"the stream is cut within the bytes of † and ë, and the call with them {how}"
    assert {"state.x": fetched, "state.y": used} == probed_values(run, 2)


NESTED: dict[str, tuple[Any, Any]] = {
    "in-an-array": ([1, "†state.x", "three"], [1, {"a": {"b": "deep"}}, "three"]),
    "in-an-object": ({"one": "†state.x", "two": 2}, {"one": {"a": {"b": "deep"}}, "two": 2}),
    "in-both": ({"one": [{"two": ["†state.x.a"]}]}, {"one": [{"two": [{"b": "deep"}]}]}),
    "a-part": ("†state.x.a.b", "deep"),
    "several": (["†state.x.a.b", "†state.x.a"], ["deep", {"b": "deep"}]),
    "a-name": ({"†state.x": "†state.x.a.b"}, {"†state.x": "deep"}),
    "within-a-text": (["see †state.x", "†state.x.a.b"], ["see †state.x", "deep"]),
}
"""Parameters, and their values once the result exists."""


@requirement("loop010-references-are-resolved")
@pytest.mark.parametrize(("written", "meant"), NESTED.values(), ids=NESTED)
def test_nested_references_are_resolved(
    scenario: Scenario, implementation: Implementation, written: Any, meant: Any
) -> None:
    """References are resolved at any place in a parameter, and all other content stays."""
    scenario.returns("fetch", {"a": {"b": "deep"}})
    scenario.plays(solution(FETCH, call("use", {"value": written, "other": "kept"}, to="†state.used")), DONE)

    run = implementation.run(tools=tools("fetch", "use"))

    run.request(2)
    assert {"value": meant, "other": "kept"} == run.ran_of("use").arguments


@requirement("loop010-references-are-resolved")
def test_null_beside_a_reference(scenario: Scenario, implementation: Implementation) -> None:
    """A required parameter is null, which its schema allows, and so is a part of another: the tool gets both."""
    scenario.plays(solution(FETCH, call("use", {"value": ["†state.x", None], "other": None}, to="†state.used")), DONE)
    scenario.returns("fetch", "here")

    run = implementation.run(tools=[*tools("fetch"), activity("use", value="", other="")])

    run.request(2)
    wanted, ran = {"value": ["here", None], "other": None}, run.arguments_of("use")
    how = f"ran with {plain(ran)}" if ran else "never ran"
    assert [wanted] == ran, f"a call that should run with {plain(wanted)} {how}; the loop {run.outcome}"


CONTEXT: list[dict[str, Any]] = [
    {"type": "input", "input": {"city": "Paris"}},
    {"type": "state", "mood": {"level": 3}},
    {"type": "data", "data": {"rows": [1, 2]}},
    {"type": "data", "kind": "user", "data": {"name": "Alex"}},
]


@requirement("loop010-references-are-resolved")
def test_every_kind_is_found(scenario: Scenario, implementation: Implementation) -> None:
    """Input, state, data and data of a kind can be read from the initial context."""
    references = ["†input.city", "†state.mood.level", "†data.rows", "†user.name"]
    scenario.plays(solution(call("use", {"value": references}, to="†state.used")), DONE)

    run = implementation.run(tools=tools("use"), context=CONTEXT)

    run.request(2)
    assert {"value": ["Paris", 3, [1, 2], "Alex"]} == run.ran_of("use").arguments
