"""Profile ``agent-loop-010``: Messages that Activities return, and messages that belong to instances."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.checks import Implementation, on, requirement
from looptck.kit import Scene
from looptck.solutions import call, solution, texts
from looptck.spec.probes import DONE, probe, probed, probing, tools
from looptck.verdicts import NotReached

FETCH = call("fetch", to="†state.x")

MESSAGES: dict[str, tuple[dict[str, Any], str]] = {
    "data-of-a-kind": ({"type": "data", "kind": "state", "data": {"y": "marker5150"}}, "state.y"),
    "another-kind": ({"type": "data", "kind": "account", "data": {"y": {"z": "marker5150"}}}, "account.y.z"),
    "data": ({"type": "data", "data": {"y": "marker5150"}}, "data.y"),
    "state": ({"type": "state", "y": "marker5150"}, "state.y"),
}
"""Messages, and where the marker stands in each."""


@requirement("loop010-returned-messages-are-appended")
@pytest.mark.parametrize("to", ["†state.x", None], ids=["with-path", "without"])
@pytest.mark.parametrize(("message", "path"), MESSAGES.values(), ids=MESSAGES)
def test_a_message_is_appended(
    provider: Scene, implementation: Implementation, message: dict[str, Any], path: str, to: str | None
) -> None:
    """What it holds is read where it says, in its own turn and in the next, and nothing stands at the output path."""
    provider.returns("fetch", message)
    provider.plays(solution(call("fetch", to=to), call("use", {"value": f"†{path}"})), probing(path, "state.x"), DONE)

    run = implementation.run(tools=tools("fetch", "use"))

    assert {path: "marker5150"} == probed(run, 2)
    assert {"value": "marker5150"} == run.ran_of("use").arguments
    assert "marker5150" in texts(run.request(2))


@requirement("loop010-returned-messages-are-appended")
def test_a_text_message_is_appended(provider: Scene, implementation: Implementation) -> None:
    """The model reads it; it is no value of the output path."""
    provider.returns("fetch", {"type": "text", "text": "Mind marker5150."})
    provider.returns("other", "a value")
    provider.plays(solution(FETCH, call("other", to="†state.y")), probing("state.x", "state.y"), DONE)

    run = implementation.run(tools=tools("fetch", "other"))

    assert {"state.y": "a value"} == probed(run, 2)
    assert "Mind marker5150." in texts(run.request(2))


@requirement("loop010-returned-messages-are-appended")
@pytest.mark.parametrize(
    "value",
    ["text", ["a", "b"], {"text": "no message"}, {"data": {"y": 1}}, {"kind": "state"}, {"type": "sedan"}],
    ids=["text", "array", "text-without-type", "data-without-type", "kind-without-type", "another-type"],
)
def test_other_values_are_wrapped(provider: Scene, implementation: Implementation, value: Any) -> None:
    """What is no Message is the value of the output path, whatever it looks like."""
    provider.returns("fetch", value)
    provider.plays(solution(FETCH), probing("state.x"), DONE)

    run = implementation.run(tools=tools("fetch"))

    assert {"state.x": value} == probed(run, 2)


ONE, TWO = "①", "②"
INSTANCES: list[dict[str, Any]] = [
    {"type": "input", "input": {"city": "Paris", "day": "Monday"}},
    {"type": "state", "_instance": ONE, "name": "Ada"},
    {"type": "state", "_instance": TWO, "name": "Bob"},
    {"type": "input", "_instance": TWO, "input": {"city": "Rome"}},
]
"""Two instances with states of their own; the second one has an input of its own, too."""


@requirement("loop010-instances-stay-apart")
def test_instances_read_their_own(provider: Scene, implementation: Implementation) -> None:
    """Each call finds the values of its instance, and of those of all what its instance does not say otherwise."""
    paths = ["state.name", "input.city", "input.day"]
    provider.plays(solution(*(probe(path, instance) for path in paths for instance in (ONE, TWO))), DONE)

    run = implementation.run(tools=tools(), context=INSTANCES)

    assert {
        "state.name of ①": "Ada",
        "state.name of ②": "Bob",
        "input.city of ①": "Paris",
        "input.city of ②": "Rome",
        "input.day of ①": "Monday",
        "input.day of ②": "Monday",
    } == probed(run, 1)


@requirement("loop010-instances-stay-apart")
@pytest.mark.parametrize("last", [ONE, TWO])
def test_instances_write_their_own(provider: Scene, implementation: Implementation, last: str) -> None:
    """Two instances write to one path, either of them last, and each keeps what it has written."""
    first = TWO if last == ONE else ONE
    provider.returns("one", "of ①")
    provider.returns("two", "of ②")
    writes = {ONE: call("one", to="†state.x", instance=ONE), TWO: call("two", to="†state.x", instance=TWO)}
    provider.plays(
        solution(writes[first]),
        solution(writes[last]),
        solution(probe("state.x", ONE), probe("state.x", TWO), probe("state.name", ONE)),
        DONE,
    )

    run = implementation.run(tools=tools("one", "two"), context=INSTANCES)

    assert {"state.x of ①": "of ①", "state.x of ②": "of ②", "state.name of ①": "Ada"} == probed(run, 3)


@requirement("loop010-instances-stay-apart")
def test_nobody_reads_what_is_another_instances(provider: Scene, implementation: Implementation) -> None:
    """A result of one instance unblocks a call of that instance, and none of another."""
    use = [call("use", {"value": "†state.x", "other": instance}, instance=instance) for instance in (ONE, TWO)]
    provider.returns("one", "of ①")
    provider.plays(
        solution(call("one", to="†state.x", instance=ONE), *use),
        solution(probe("state.x", ONE), probe("state.x", TWO)),
        DONE,
    )

    run = implementation.run(tools=tools("one", "use"), context=INSTANCES)

    assert {"state.x of ①": "of ①"} == probed(run, 2)
    run.tool_began("use")
    mine = {"value": "of ①", "other": ONE}
    assert [] == [given for given in run.arguments_of("use") if given != mine]


@requirement("loop010-instances-stay-apart")
def test_what_belongs_to_none_is_for_all(provider: Scene, implementation: Implementation) -> None:
    """A call without an instance writes what calls of every instance, and of none, can read."""
    provider.returns("fetch", "for all")
    every = (ONE, TWO, None)
    use = [call("use", {"value": "†state.x", "other": str(instance)}, instance=instance) for instance in every]
    provider.plays(solution(FETCH, *use), solution(*(probe("state.x", one) for one in every)), DONE)

    run = implementation.run(tools=tools("fetch", "use"), context=INSTANCES)

    assert {"state.x of ①": "for all", "state.x of ②": "for all", "state.x": "for all"} == probed(run, 2)
    for instance in map(str, every):
        assert {"value": "for all", "other": instance} in run.arguments_of("use")


@requirement("loop010-instances-stay-apart")
@on("openai-chat")
def test_what_calls_of_no_instance_read(provider: Scene, implementation: Implementation) -> None:
    """Whether a call without an instance reads what belongs to one is left open."""
    provider.plays(solution(probe("state.name"), probe("input.city")), DONE)

    run = implementation.run(tools=tools(), context=INSTANCES[:2])

    told = probed(run, 1)
    if told.get("input.city") != "Paris":
        raise NotReached(f"control: what belongs to no instance should have been read; the probes told {told}")
    read = "is read" if "state.name" in told else "is not read"
    implementation.diverges("what belongs to an instance, to a call without one", read)
