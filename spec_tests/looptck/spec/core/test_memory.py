"""Memory: a service that has lost, or never keeps, the state on which requests depend."""

from __future__ import annotations

import pytest

from looptck.bench.assertions.results import answers
from looptck.bench.assertions.turns import calls_echoed
from looptck.bench.checks import Implementation, on, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.provider.script import Step
from looptck.values.transcript import SideRequest
from looptck.values.turns import Call, Thinking, Turn, calls, says, turn
from looptck.values.verdicts import NotApplicable, NotReached

WEATHER = calls(Call.of("weather", {"city": "Paris"}))
THOUGHT_OVER = turn(Thinking("The user wants to know the weather in Paris."), Call.of("weather", {"city": "Paris"}))
RAN = [("weather", {"city": "Paris"})]
LOST = [
    pytest.param("thread_not_found", marks=on("anthropic-messages")),
    pytest.param("thread_already_continued", marks=on("anthropic-messages")),
    pytest.param("thread_continue_in_flight", marks=on("anthropic-messages")),
    pytest.param("previous_response_not_found", marks=on("openai-responses")),
]
"""The error codes by which services report that the state on which a request depends is missing."""


def _relied_on(scenario: Scenario, implementation: Implementation) -> Turn:
    """The turn after which the loop's request depends on the service's memory, whatever its driver declares.

    Some loops refer to reasoning alone: where a call makes no reference, one that the model has thought over may.

    Raises:
        NotApplicable: the loop sends its whole history, and the driver declares nothing else, or other wires too.
        NotReached: the loop sends its whole history although the driver declares the capability for its only wire.
    """
    declared = implementation.started.can("memory")
    for played in (WEATHER, THOUGHT_OVER) if declared else (WEATHER,):
        scenario.plays(played, says("Warm."))
        run = implementation.run()
        if not declared and len(run.requests) < 2:
            raise NotApplicable("there was no second request, and the driver declares no capability `memory`")
        if run.request(2).request.relies:
            implementation.diverges("the service's memory", "used" if declared else "used, and not declared")
            return played
    if not declared:
        raise NotApplicable("request 2 carries the whole history, and the driver declares no capability `memory`")
    if len(implementation.started.wires) > 1:
        raise NotApplicable("request 2 carries the whole history on this wire, so the capability `memory` is another's")
    raise NotReached("request 2 carries the whole history, though the driver declares the capability memory")


@requirement("lost-memory-reruns-no-tool")
@pytest.mark.parametrize("why", LOST)
def test_lost_memory(scenario: Scenario, implementation: Implementation, why: str) -> None:
    """After a tool has run, the service loses the conversation; the loop sends it in full, and the tool runs once."""
    played = _relied_on(scenario, implementation)
    scenario.plays(played, Step(says("Warm."), forgets=why))

    run = implementation.run()

    run.delivered(1)
    assert RAN == run.tools_ran
    _sent_in_full(run)


@requirement("refused-memory-is-done-without")
def test_refused_memory(scenario: Scenario, implementation: Implementation) -> None:
    """A service that stores nothing refuses every request that depends on stored state."""
    played = _relied_on(scenario, implementation)
    scenario.stateful = False
    scenario.plays(played, says("Warm."))

    run = implementation.run()

    if not any(isinstance(event, SideRequest) for event in run.transcript.events):
        raise NotReached("no request depended on the service's memory")
    assert len(run.tools_ran) <= 1
    _sent_in_full(run)


def _sent_in_full(run: Run) -> None:
    """Assert that the second turn was requested with the whole history, if at all."""
    refused = [problem for received in run.requests for problem in received.problems]
    assert not refused, f"the request after the refusal is invalid: {refused[0].rule} at {refused[0].pointer}"
    if run.failed:
        return
    assert not run.request(2).request.relies
    calls_echoed(run, 1)
    answers(run, 1)
    assert "Warm." == run.value.text
