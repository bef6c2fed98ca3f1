"""Profile ``agent-loop-010``: tools without an Activity, whose results the model writes itself, and tools with one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from looptck.checks import Implementation, on, requirement
from looptck.kit import Scene
from looptck.provider import gates
from looptck.provider.toolbox import Returns
from looptck.run import Run
from looptck.solutions import call, embedded, solution, texts, told_errors
from looptck.spec.probes import DONE, probed, probing, tools
from looptck.transcript import Received
from looptck.verdicts import NotReached

USE = call("use", {"value": "†state.x"})

OUTPUTS: dict[str, Any] = {
    "text": "a thought",
    "number": 0,
    "false": False,
    "empty": "",
    "array": [1, {"two": []}],
    "object": {"rating": 5, "why": None},
    "like-a-message": {"type": "data", "kind": "state", "data": {"y": 1}},
}
"""The last is no Message: those are what Activities return."""


@requirement("loop010-latent-calls-write-their-output")
@pytest.mark.parametrize("output", OUTPUTS.values(), ids=OUTPUTS)
def test_the_output_is_written(provider: Scene, implementation: Implementation, output: Any) -> None:
    """It unblocks a call of its own turn, and can be read in the next one."""
    provider.plays(solution(USE, call("guess", to="†state.x", output=output)), probing("state.x"), DONE)

    run = implementation.run(tools=tools("use", latent="guess"))

    assert {"state.x": output} == probed(run, 2)
    assert {"value": output} == run.ran_of("use").arguments


@requirement("loop010-latent-calls-write-their-output")
def test_the_output_unblocks_at_once(provider: Scene, implementation: Implementation) -> None:
    """What needs it begins while another call of the turn runs."""
    provider.does("slow", Returns("a result", hold=gates.tool_began("use")))
    provider.plays(solution(call("slow"), USE, call("guess", to="†state.x", output="a thought")), DONE)

    run = implementation.run(tools=tools("use", "slow", latent="guess"))

    run.request(2)
    assert {"value": "a thought"} == run.ran_of("use").arguments
    assert [] == run.gave_up, "the call waited for one that it does not depend on"


@requirement("loop010-latent-calls-write-their-output")
def test_latent_calls_follow_each_other(provider: Scene, implementation: Implementation) -> None:
    """One refers to what a tool writes, and unblocks another, whose output can be read."""
    provider.plays(
        solution(
            call("guess", {"value": "†state.y"}, to="†state.z", output="the second thought"),
            call("guess", {"value": "†state.x"}, to="†state.y", output="the first thought"),
            call("fetch", to="†state.x"),
        ),
        probing("state.y", "state.z"),
        DONE,
    )

    run = implementation.run(tools=tools("fetch", latent="guess"))

    assert {"state.y": "the first thought", "state.z": "the second thought"} == probed(run, 2)


@requirement("loop010-latent-calls-write-their-output")
@on("openai-chat")
def test_without_an_output(provider: Scene, implementation: Implementation) -> None:
    """What becomes of a call that has no output is left open."""
    provider.plays(solution(call("guess", {"value": 1}, to="†state.x"), call("fetch", to="†state.y")), DONE)

    run = implementation.run(tools=tools("fetch", latent="guess"))

    run.tool_ended("fetch")
    told = "an error" if _new_errors(run) else "nothing happens"
    implementation.diverges("a latent call without an output", told)


def _new_errors(run: Run) -> list[Any]:
    """The calls in the Error Messages that request 2 has and request 1 has not."""
    known = [error.call for error in told_errors(run.request(1))]
    return [error.call for error in told_errors(run.request(2)) if error.call not in known]


def _calls(value: Any) -> Iterator[Any]:
    """The Calls in a JSON value: a loop may tell them again, in a plan."""
    if isinstance(value, dict) and "_tool" in value:
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _calls(one)


def _told(request: Received, marker: str) -> bool:
    """Whether a request tells a marker otherwise than in a Call."""
    in_calls = sum(json.dumps(one).count(marker) for one in _calls(embedded(request)))
    return texts(request).count(marker) > in_calls


THOUGHTS: dict[str, Any] = {
    "text": "marker1964",
    "object": {"why": ["marker1964"]},
    "like-a-message": {"type": "text", "text": "marker1964"},
}


@requirement("loop010-latent-calls-without-path-store-nothing")
@pytest.mark.parametrize("beside", [True, False], ids=["beside-another", "alone"])
@pytest.mark.parametrize("output", THOUGHTS.values(), ids=THOUGHTS)
def test_a_thought_is_not_stored(provider: Scene, implementation: Implementation, output: Any, *, beside: bool) -> None:
    """Neither the thought nor an error is told; the result of a call that stands beside it is."""
    provider.returns("fetch", "marker2893")
    thought = call("guess", {"value": "a question"}, output=output)
    fetch = call("fetch", to="†state.x")
    provider.plays(solution(thought, *([fetch] if beside else [])), solution(fetch), DONE)

    run = implementation.run(tools=tools("fetch", latent="guess"))

    if not _told(run.request(3), "marker2893"):
        raise NotReached("control: the result of the call with a path is not told")
    assert [] == _new_errors(run)
    assert [] == run.arguments_of("guess")
    for n in (2, 3):
        assert not _told(run.request(n), "marker1964"), f"request {n} tells a thought that was not to be stored"


@requirement("loop010-activities-outdo-given-outputs")
@pytest.mark.parametrize("output", ["a guess", {"rating": 1}, None], ids=["text", "object", "null"])
def test_the_activity_outdoes_the_output(provider: Scene, implementation: Implementation, output: Any) -> None:
    """The tool runs, and its result is what its own turn and the next one read."""
    provider.returns("fetch", "the result")
    provider.plays(solution(call("fetch", to="†state.x", output=output), USE), probing("state.x"), DONE)

    run = implementation.run(tools=tools("fetch", "use"))

    assert {"state.x": "the result"} == probed(run, 2)
    assert {} == run.ran_of("fetch").arguments
    assert {"value": "the result"} == run.ran_of("use").arguments
