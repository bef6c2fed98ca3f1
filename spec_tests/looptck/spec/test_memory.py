"""Memory: what a loop does when the service has lost, or never keeps, what its requests lean on."""

from __future__ import annotations

import pytest

from looptck.checks import Implementation, on, requirement
from looptck.expectations import answers, calls_echoed
from looptck.kit import Scene
from looptck.provider.script import Step
from looptck.run import Run
from looptck.transcript import Aside
from looptck.turns import Call, calls, says
from looptck.verdicts import NotApplicable, NotReached

WEATHER = calls(Call.of("weather", {"city": "Paris"}))
RAN = [("weather", {"city": "Paris"})]
LOST = [
    pytest.param("thread_not_found", marks=on("anthropic-messages")),
    pytest.param("thread_already_continued", marks=on("anthropic-messages")),
    pytest.param("thread_continue_in_flight", marks=on("anthropic-messages")),
    pytest.param("previous_response_not_found", marks=on("openai-responses")),
]
"""The error codes by which the services say that they have not what a request leans on."""


def _leans(provider: Scene, implementation: Implementation) -> None:
    """A loop that leans on the service's memory is judged by what it sends, whatever its driver declares.

    Raises:
        NotApplicable: it sends its whole history, and so has nothing to lose.
        NotReached: it does so although its driver declares that it leans.
    """
    provider.plays(WEATHER, says("Warm."))
    run = implementation.run()
    declared = implementation.started.can("memory")
    if not declared and len(run.requests) < 2:
        raise NotApplicable("the driver declares no capability `memory`, and there was no second request")
    if run.request(2).request.continues is not None:
        implementation.diverges("the service's memory", "used" if declared else "used, and not declared")
    elif declared:
        raise NotReached("request 2 carries the whole history, though the driver declares the capability memory")
    else:
        raise NotApplicable("the driver declares no capability `memory`, and request 2 carries the whole history")


@requirement("lost-memory-reruns-no-tool")
@pytest.mark.parametrize("why", LOST)
def test_lost_memory(provider: Scene, implementation: Implementation, why: str) -> None:
    """After a tool has run, the service has forgotten the conversation; it is told in full, and the tool runs once."""
    _leans(provider, implementation)
    provider.plays(WEATHER, Step(says("Warm."), forgets=why))

    run = implementation.run()

    run.delivered(1)
    assert RAN == run.tools_ran
    _told_in_full(run)


@requirement("refused-memory-is-done-without")
def test_refused_memory(provider: Scene, implementation: Implementation) -> None:
    """A service that keeps nothing refuses every request that leans on it."""
    _leans(provider, implementation)
    provider.stateful = False
    provider.plays(WEATHER, says("Warm."))

    run = implementation.run()

    if not any(isinstance(event, Aside) for event in run.transcript.events):
        raise NotReached("no request leaned on a memory")
    assert len(run.tools_ran) <= 1
    _told_in_full(run)


def _told_in_full(run: Run) -> None:
    """Hold that the second turn was asked for with the whole history, if at all."""
    refused = [problem for received in run.requests for problem in received.problems]
    assert not refused, f"what was sent after the refusal is no request: {refused[0].rule} at {refused[0].pointer}"
    if run.failed:
        return
    assert run.request(2).request.continues is None
    calls_echoed(run, 1)
    answers(run, 1)
    assert "Warm." == run.value.text
