"""Profile ``agent-loop-010``: Messages that Activities return, and Messages that belong to instances."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.bench.checks import Implementation, on, requirement
from looptck.bench.scenario import Scenario
from looptck.bench.solutions import call, solution, texts
from looptck.provider.gates import tool_ended
from looptck.provider.toolbox import Returns
from looptck.spec.agent_loop_010.probes import DONE, probe, probe_turn, probed_values, tools
from looptck.values.verdicts import NotReached

FETCH = call("fetch", to="†state.x")

MESSAGES: dict[str, tuple[dict[str, Any], str]] = {
    "data-of-a-kind": ({"type": "data", "kind": "state", "data": {"y": "marker5150"}}, "state.y"),
    "another-kind": ({"type": "data", "kind": "account", "data": {"y": {"z": "marker5150"}}}, "account.y.z"),
    "data": ({"type": "data", "data": {"y": "marker5150"}}, "data.y"),
    "state": ({"type": "state", "y": "marker5150"}, "state.y"),
}
"""Messages, and the path of the marker in each."""


@requirement("loop010-returned-messages-are-appended")
@pytest.mark.parametrize(("message", "path"), MESSAGES.values(), ids=MESSAGES)
def test_a_message_is_appended(
    scenario: Scenario, implementation: Implementation, message: dict[str, Any], path: str
) -> None:
    """A returned Message can be read at its own path, in this turn and the next; the output path stays empty."""
    scenario.returns("fetch", message)
    use = call("use", {"value": f"†{path}"}, to="†state.used")
    scenario.plays(solution(FETCH, use), probe_turn(path, "state.x"), DONE)

    run = implementation.run(tools=tools("fetch", "use"))

    assert {path: "marker5150"} == probed_values(run, 2)
    assert {"value": "marker5150"} == run.ran_of("use").arguments
    assert "marker5150" in texts(run.request(2))


@requirement("loop010-returned-messages-are-appended")
@on("openai-chat")
def test_a_message_without_an_output_path(scenario: Scenario, implementation: Implementation) -> None:
    """The documents disagree on a Message that a call without an output path returns.

    003: Agent/Activity appends it; 008: Agent/Output neither waits for a result of such a call nor stores one.
    """
    scenario.returns("fetch", {"type": "data", "kind": "state", "data": {"y": "marker5150"}})
    scenario.does("other", Returns("a result", hold=tool_ended("fetch")))
    scenario.plays(solution(call("fetch"), call("other", to="†state.z")), probe_turn("state.y", "state.z"), DONE)

    run = implementation.run(tools=tools("fetch", "other"))

    run.tool_ended("fetch")
    shown = probed_values(run, 2)
    if "state.z" not in shown:
        raise NotReached(f"control: the result of the call with an output path is not stored; the loop {run.outcome}")
    implementation.diverges(
        "a Message that a call without an output path returns", "is appended" if "state.y" in shown else "is not stored"
    )


@requirement("loop010-returned-messages-are-appended")
def test_a_text_message_is_appended(scenario: Scenario, implementation: Implementation) -> None:
    """The model reads the returned text Message, which is not a value of the output path."""
    scenario.returns("fetch", {"type": "text", "text": "Mind marker5150."})
    scenario.returns("other", "a value")
    scenario.plays(solution(FETCH, call("other", to="†state.y")), probe_turn("state.x", "state.y"), DONE)

    run = implementation.run(tools=tools("fetch", "other"))

    assert {"state.y": "a value"} == probed_values(run, 2)
    assert "Mind marker5150." in texts(run.request(2))


@requirement("loop010-returned-messages-are-appended")
@pytest.mark.parametrize(
    "value",
    ["text", ["a", "b"], {"text": "no message"}, {"data": {"y": 1}}, {"kind": "state"}, {"type": "sedan"}],
    ids=["text", "array", "text-without-type", "data-without-type", "kind-without-type", "another-type"],
)
def test_other_values_are_wrapped(scenario: Scenario, implementation: Implementation, value: Any) -> None:
    """A value that is not a Message is stored at the output path, whatever it looks like."""
    scenario.returns("fetch", value)
    scenario.plays(solution(FETCH), probe_turn("state.x"), DONE)

    run = implementation.run(tools=tools("fetch"))

    assert {"state.x": value} == probed_values(run, 2)


ONE, TWO = "①", "②"
INSTANCES: list[dict[str, Any]] = [
    {"type": "input", "input": {"city": "Paris", "day": "Monday"}},
    {"type": "state", "_instance": ONE, "name": "Ada"},
    {"type": "state", "_instance": TWO, "name": "Bob"},
    {"type": "input", "_instance": TWO, "input": {"city": "Rome"}},
]
"""Two instances, each with its own values; the second one also has its own input."""


@requirement("loop010-instances-stay-apart")
def test_instances_read_their_own(scenario: Scenario, implementation: Implementation) -> None:
    """Each call reads the values of its instance, and common values that its instance does not override."""
    paths = ["state.name", "input.city", "input.day"]
    scenario.plays(solution(*(probe(path, instance) for path in paths for instance in (ONE, TWO))), DONE)

    run = implementation.run(tools=tools(), context=INSTANCES)

    assert {
        "state.name of ①": "Ada",
        "state.name of ②": "Bob",
        "input.city of ①": "Paris",
        "input.city of ②": "Rome",
        "input.day of ①": "Monday",
        "input.day of ②": "Monday",
    } == probed_values(run, 1)


@requirement("loop010-instances-stay-apart")
@pytest.mark.parametrize("last", [ONE, TWO])
def test_instances_write_their_own(scenario: Scenario, implementation: Implementation, last: str) -> None:
    """Two instances write to one path, in either order, and each keeps its own value."""
    first = TWO if last == ONE else ONE
    scenario.returns("one", "of ①")
    scenario.returns("two", "of ②")
    writes = {ONE: call("one", to="†state.x", instance=ONE), TWO: call("two", to="†state.x", instance=TWO)}
    scenario.plays(
        solution(writes[first]),
        solution(writes[last]),
        solution(probe("state.x", ONE), probe("state.x", TWO), probe("state.name", ONE)),
        DONE,
    )

    run = implementation.run(tools=tools("one", "two"), context=INSTANCES)

    assert {"state.x of ①": "of ①", "state.x of ②": "of ②", "state.name of ①": "Ada"} == probed_values(run, 3)


def _use(instance: str | None) -> dict[str, Any]:
    """A call of an instance, or of none, that reads what another one writes."""
    return call("use", {"value": "†state.x", "other": str(instance)}, to="†notes.used", instance=instance)


@requirement("loop010-instances-stay-apart")
def test_nobody_reads_what_is_another_instances(scenario: Scenario, implementation: Implementation) -> None:
    """A result of one instance unblocks a call of that instance, but no call of another instance."""
    use = [_use(instance) for instance in (ONE, TWO)]
    scenario.returns("one", "of ①")
    scenario.plays(
        solution(call("one", to="†state.x", instance=ONE), *use),
        solution(probe("state.x", ONE), probe("state.x", TWO)),
        DONE,
    )

    run = implementation.run(tools=tools("one", "use"), context=INSTANCES)

    assert {"state.x of ①": "of ①"} == probed_values(run, 2)
    run.tool_began("use")
    mine = {"value": "of ①", "other": ONE}
    assert [] == [given for given in run.arguments_of("use") if given != mine]


@requirement("loop010-instances-stay-apart")
def test_what_belongs_to_none_is_for_all(scenario: Scenario, implementation: Implementation) -> None:
    """A call without an instance stores values that calls of every instance, and of none, can read."""
    scenario.returns("fetch", "for all")
    every = (ONE, TWO, None)
    scenario.plays(solution(FETCH, *map(_use, every)), solution(*(probe("state.x", one) for one in every)), DONE)

    run = implementation.run(tools=tools("fetch", "use"), context=INSTANCES)

    assert {"state.x of ①": "for all", "state.x of ②": "for all", "state.x": "for all"} == probed_values(run, 2)
    for instance in map(str, every):
        assert {"value": "for all", "other": instance} in run.arguments_of("use")


@requirement("loop010-instances-stay-apart")
@on("openai-chat")
def test_what_calls_of_no_instance_read(scenario: Scenario, implementation: Implementation) -> None:
    """Whether a call without an instance reads an instance's values is left open."""
    scenario.plays(solution(probe("state.name"), probe("input.city")), DONE)

    run = implementation.run(tools=tools(), context=INSTANCES[:2])

    shown = probed_values(run, 1)
    if shown.get("input.city") != "Paris":
        raise NotReached(f"control: the value without an instance should have been read; the probes got {shown}")
    read = "is read" if "state.name" in shown else "is not read"
    implementation.diverges("a value of an instance, read by a call without one", read)
