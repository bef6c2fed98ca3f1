"""Profile ``agent-loop-010``: tools without an Activity, whose results the model writes, and tools with one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from looptck.bench.checks import Implementation, on, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.solutions import call, embedded, error_messages, solution, texts
from looptck.provider import gates
from looptck.provider.toolbox import Returns
from looptck.spec.agent_loop_010.probes import DONE, probe_turn, probed_values, tools
from looptck.values.transcript import Received
from looptck.values.verdicts import NotReached

USE = call("use", {"value": "†state.x"}, to="†state.used")

OUTPUTS: dict[str, Any] = {
    "text": "a thought",
    "number": 0,
    "false": False,
    "empty": "",
    "array": [1, {"two": []}],
    "object": {"rating": 5, "why": None},
    "like-a-message": {"type": "data", "kind": "state", "data": {"y": 1}},
}
"""The last value is not a Message: only Activities return Messages."""


@requirement("loop010-latent-calls-write-their-output")
@pytest.mark.parametrize("output", OUTPUTS.values(), ids=OUTPUTS)
def test_the_output_is_written(scenario: Scenario, implementation: Implementation, output: Any) -> None:
    """The output unblocks a call in its own turn, and the next turn can read it."""
    scenario.plays(solution(USE, call("guess", to="†state.x", output=output)), probe_turn("state.x"), DONE)

    run = implementation.run(tools=tools("use", latent="guess"))

    assert {"state.x": output} == probed_values(run, 2)
    assert {"value": output} == run.ran_of("use").arguments


@requirement("loop010-latent-calls-write-their-output")
def test_the_output_unblocks_at_once(scenario: Scenario, implementation: Implementation) -> None:
    """A call that needs the output begins while another call of the turn is running.

    The control is that a call which needs a tool's result does.
    """
    scenario.does("slow", Returns("a result", hold=gates.tool_began("use")))
    scenario.plays(solution(call("slow", to="†state.slow"), USE, call("fetch", to="†state.x")), DONE)
    if implementation.run(tools=tools("use", "slow", "fetch")).gave_up:
        raise NotReached("control: a call that needs a tool's result waits for a call that it does not depend on")
    scenario.does("slow", Returns("a result", hold=gates.tool_began("use")))
    scenario.plays(
        solution(call("slow", to="†state.slow"), USE, call("guess", to="†state.x", output="a thought")), DONE
    )

    run = implementation.run(tools=tools("use", "slow", latent="guess"))

    run.request(2)
    assert {"value": "a thought"} == run.ran_of("use").arguments
    assert [] == run.gave_up, "the call waited for one that it does not depend on"


@requirement("loop010-latent-calls-write-their-output")
def test_latent_calls_follow_each_other(scenario: Scenario, implementation: Implementation) -> None:
    """A latent call reads a tool's result and unblocks a second latent call, whose output can be read."""
    scenario.plays(
        solution(
            call("guess", {"value": "†state.y"}, to="†state.z", output="the second thought"),
            call("guess", {"value": "†state.x"}, to="†state.y", output="the first thought"),
            call("fetch", to="†state.x"),
        ),
        probe_turn("state.y", "state.z"),
        DONE,
    )

    run = implementation.run(tools=tools("fetch", latent="guess"))

    assert {"state.y": "the first thought", "state.z": "the second thought"} == probed_values(run, 2)


@requirement("loop010-latent-calls-write-their-output")
@on("openai-chat")
def test_without_an_output(scenario: Scenario, implementation: Implementation) -> None:
    """The effect of a latent call without an output is left open."""
    scenario.plays(solution(call("guess", {"value": 1}, to="†state.x"), call("fetch", to="†state.y")), DONE)

    run = implementation.run(tools=tools("fetch", latent="guess"))

    run.tool_ended("fetch")
    reported = "an error" if _new_errors(run) else "nothing happens"
    implementation.diverges("a latent call without an output", reported)


def _new_errors(run: Run) -> list[Any]:
    """The calls in the Error Messages of request 2 that request 1 does not have."""
    known = [error.call for error in error_messages(run.request(1))]
    return [error.call for error in error_messages(run.request(2)) if error.call not in known]


def _calls(value: Any) -> Iterator[Any]:
    """The Calls in a JSON value; a loop may repeat them in a plan."""
    if isinstance(value, dict) and "_tool" in value:
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _calls(one)


def _shown_outside_calls(request: Received, marker: str) -> bool:
    """Whether a request contains a marker outside of Calls."""
    in_calls = sum(json.dumps(one).count(marker) for one in _calls(embedded(request)))
    return texts(request).count(marker) > in_calls


THOUGHTS: dict[str, Any] = {
    "text": "marker1964",
    "object": {"why": ["marker1964"]},
    "like-a-message": {"type": "text", "text": "marker1964"},
}


@requirement("loop010-latent-calls-without-path-store-nothing")
@pytest.mark.parametrize("with_another", [True, False], ids=["beside-another", "alone"])
@pytest.mark.parametrize("output", THOUGHTS.values(), ids=THOUGHTS)
def test_a_thought_is_not_stored(
    scenario: Scenario, implementation: Implementation, output: Any, *, with_another: bool
) -> None:
    """The next Requests contain neither the thought nor an error; the other call's result they do contain."""
    scenario.returns("fetch", "marker2893")
    thought = call("guess", {"value": "a question"}, output=output)
    fetch = call("fetch", to="†state.x")
    scenario.plays(solution(thought, *([fetch] if with_another else [])), solution(fetch), DONE)

    run = implementation.run(tools=tools("fetch", latent="guess"))

    if not _shown_outside_calls(run.request(3), "marker2893"):
        raise NotReached("control: the next Request lacks the result of the call with a path")
    assert [] == _new_errors(run)
    assert [] == run.arguments_of("guess")
    for n in (2, 3):
        assert not _shown_outside_calls(run.request(n), "marker1964"), (
            f"request {n} contains a thought that was not to be stored"
        )


@requirement("loop010-activities-outdo-given-outputs")
@pytest.mark.parametrize("output", ["a guess", {"rating": 1}, None], ids=["text", "object", "null"])
def test_the_activity_outdoes_the_output(scenario: Scenario, implementation: Implementation, output: Any) -> None:
    """The tool runs, and both its own turn and the next one read its result."""
    scenario.returns("fetch", "the result")
    scenario.plays(solution(call("fetch", to="†state.x", output=output), USE), probe_turn("state.x"), DONE)

    run = implementation.run(tools=tools("fetch", "use"))

    assert {"state.x": "the result"} == probed_values(run, 2)
    assert {} == run.ran_of("fetch").arguments
    assert {"value": "the result"} == run.ran_of("use").arguments
