"""How a run has ended for its caller: the stop reason that it is told, and the error for a fault of the service."""

from __future__ import annotations

import re
from collections.abc import Collection

import pytest

from looptck.bench.assertions.caller import CUT
from looptck.bench.assertions.failure_texts import ARGUMENT, tells_of_mistake
from looptck.bench.checks import Implementation, on, requirement
from looptck.bench.limit_words import MISTAKES
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.provider.faults import Cut, ErrorEvent, HttpError
from looptck.provider.script import Step
from looptck.provider.toolbox import Raises
from looptck.spec import outputs
from looptck.spec.failing_service import BODIES, SOON, always_failing
from looptck.values.outcome import Failed, Value
from looptck.values.turns import Call, Turn, calls, refuses, says
from looptck.values.verdicts import NotApplicable

WHOLE = "The capital of France is Paris."
BEGUN = "The capital of France is"
ON_OPENAI = on("openai-*")
ON_MESSAGES = on("anthropic-messages")
ENDINGS = [
    pytest.param([says(WHOLE)], {"end"}, id="whole"),
    pytest.param([calls(Call.of("weather", {"city": "Paris"})), says(WHOLE)], {"end"}, id="whole-after-tools"),
    pytest.param([says(BEGUN, stop="length")], {"length", "limit"}, id="length"),
    pytest.param([says(BEGUN, stop="content_filter")], {"content_filter", "refusal"}, id="filter", marks=ON_OPENAI),
    pytest.param([says(BEGUN, stop="refusal")], {"content_filter", "refusal"}, id="refused", marks=ON_MESSAGES),
    pytest.param([refuses("I cannot help with that.")], {"content_filter", "refusal"}, id="refusal", marks=ON_OPENAI),
]
"""The turns of a run, and the stop reasons that fit it. ``end`` and ``other`` are the silence that others judge."""
SILENT = {None, "end", "other"}


@requirement("told-stop-reason-fits")
@pytest.mark.parametrize(("turns", "fit"), ENDINGS)
def test_told_reason(
    scenario: Scenario, implementation: Implementation, turns: list[Turn], fit: Collection[str]
) -> None:
    """A run ends in one of the usual ways; its caller is told of no other."""
    stop = _told(scenario, implementation, *turns)

    may = {*fit, *SILENT, *({"calls"} if implementation.bench.started.answer else ())}
    last = turns[-1].stopped if turns[-1].text else "refusal"
    assert stop in may, f"the last turn has the stop reason {last}, and the caller is told {stop}"


def _told(scenario: Scenario, implementation: Implementation, *turns: Turn) -> str | None:
    """The stop reason that the caller of such a run is told.

    Raises:
        NotApplicable: the run ends with an error, or its caller is told no reason.
    """
    scenario.plays(*turns)
    run = implementation.run()
    run.replied(len(turns))
    if not isinstance(run.outcome, Value) or run.outcome.stop is None:
        raise NotApplicable(f"the caller is told no stop reason: the loop {run.outcome}")
    return run.outcome.stop


@requirement("truncated-answer-is-told")
def test_whole_answer_is_told_otherwise(scenario: Scenario, implementation: Implementation) -> None:
    """An answer is whole, and another is cut by the token limit: what the caller is told of both is not the same."""
    whole = _told(scenario, implementation, says(WHOLE))
    cut = _told(scenario, implementation, says(BEGUN, stop="length"))

    assert whole != cut or cut not in CUT, f"the caller is told {cut} of a whole answer too"


FAILURES = [
    pytest.param(HttpError(400, SOON), id="400"),
    pytest.param(HttpError(500, SOON), id="500"),
    pytest.param(Step(says("Never seen."), fault=ErrorEvent(after=0)), id="event", marks=on("*/stream/*")),
]
"""What the service answers to every request."""
LOST = re.compile(r"fetch|load failed|terminated|network|connection|socket|closed|body", re.IGNORECASE)
"""What a client says of a connection that was lost."""
UNREADABLE = {"JSONDecodeError", "SyntaxError"}
"""What reading a text as JSON raises: of a request that was refused it says neither that nor why."""
NO_CITY = "no city has this name"
SAID = re.compile(rf"{HttpError(0).message}|{NO_CITY}|\b(400|429|500)\b")
"""What the service or the tool has said: an error that repeats it hides nothing, whatever its type."""


@requirement("failure-is-told-as-such")
@pytest.mark.parametrize("fault", FAILURES)
def test_error_of_the_service(scenario: Scenario, implementation: Implementation, fault: HttpError | Step) -> None:
    """The service answers every request with an error."""
    _is_no_mistake(always_failing(scenario, implementation, fault))


@requirement("failure-is-told-as-such")
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_error_in_another_form(scenario: Scenario, implementation: Implementation, body: str) -> None:
    """The service refuses every request, with a body of another form than that of its own errors."""
    run = always_failing(scenario, implementation, HttpError(400, SOON, body=body))
    _is_no_mistake(run, also=UNREADABLE)


@requirement("failure-is-told-as-such")
def test_error_without_a_time(scenario: Scenario, implementation: Implementation) -> None:
    """The service refuses one request for the rate, and does not say when to ask again."""
    scenario.plays(HttpError(429), says("Once more."))
    run = implementation.run()
    run.replied(1)
    _is_no_mistake(run)


@requirement("failure-is-told-as-such")
def test_error_of_a_tool(scenario: Scenario, implementation: Implementation) -> None:
    """A tool raises, which the caller or the model is told."""
    scenario.plays(calls(Call.of("weather", {"city": "Atlantis"})), says("There is no such city."))
    scenario.does("weather", Raises(NO_CITY, "LookupError"))
    run = implementation.run()
    run.tool_began("weather")
    _is_no_mistake(run, "the tool has raised")


@requirement("failure-is-told-as-such")
def test_cut_reply(scenario: Scenario, implementation: Implementation) -> None:
    """Each connection is closed in the middle of its reply, of which fetch of JavaScript tells by a TypeError."""
    run = always_failing(scenario, implementation, Step(says("Never seen."), fault=Cut()))
    _is_no_mistake(run, "a connection was closed in the middle of a reply", LOST)


NO_OUTPUT = re.compile(r"json|schema|structured|valid|expect|pars|column", re.IGNORECASE)
"""What an error says that has to do with a text that is no output."""


@requirement("failure-is-told-as-such")
def test_output_that_is_no_json(scenario: Scenario, implementation: Implementation) -> None:
    """The model answers in words where an output of a schema is due, however often it is asked."""
    implementation.needs("output")
    run = outputs.run_for(scenario, implementation, outputs.tells("It is fine in Paris."))
    outputs.given(run, outputs.wanted())
    _is_no_mistake(run, "the model has answered in words where an output was due", NO_OUTPUT)


CANNOT_RUN = [
    pytest.param(Call.of("teleport", {"city": "Oslo"}), "a tool that nobody offers is called", id="unknown"),
    pytest.param(Call("weather", '{"city": "Oslo'), "the arguments of a call are not JSON", id="not-json"),
]
"""Calls of the model, and what is wrong with each."""
NAMED = re.compile(rf"teleport|weather|{ARGUMENT}|json", re.IGNORECASE)
"""What an error says that has to do with such a call."""


@requirement("failure-is-told-as-such")
@pytest.mark.parametrize(("call", "what"), CANNOT_RUN)
def test_call_that_cannot_run(scenario: Scenario, implementation: Implementation, call: Call, what: str) -> None:
    """The model calls a tool that was not offered, or writes arguments that are not JSON."""
    scenario.plays(calls(call), says("I cannot tell."))
    run = implementation.run()
    run.replied(1)
    _is_no_mistake(run, what, NAMED)


def _is_no_mistake(
    run: Run,
    what: str = "the service has answered with an error",
    said: re.Pattern[str] = SAID,
    also: Collection[str] = (),
) -> None:
    """Assert that the run has not ended by a programming mistake that hides what has been said of the failure.

    A loop may have put the mistake into an error of its own.
    """
    if isinstance(run.outcome, Failed) and not said.search(run.outcome.message):
        slip = run.outcome.type in {*MISTAKES, *also} or tells_of_mistake(run.outcome.message)
        assert not slip, f"{what}, and the loop {run.outcome}"
