"""Faults of the provider: a lost reply runs nothing, no tool runs twice, and the caller learns of the fault."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from looptck.bench.assertions.caller import shows_failure
from looptck.bench.assertions.tool_runs import same_runs
from looptck.bench.checks import Implementation, control, on, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.provider.faults import Cut, ErrorEvent, Fault, HttpError, NoFinish, NotJson
from looptck.provider.script import Step
from looptck.spec.conversing import returned
from looptck.spec.failing_service import BODIES, SOON, fails_always
from looptck.spec.overflowing import too_long
from looptck.values.framing import DEFAULT, Quirk
from looptck.values.turns import Call, Turn, calls, says
from looptck.values.verdicts import NotApplicable, NotReached

WEATHER = calls(Call.of("weather", {"city": "Paris"}))
SUM = calls(Call.of("add", {"a": 1, "b": 2}))
RAN = [("weather", {"city": "Paris"})]
RESULT = "result 1 of weather"
"""The toolbox's default result for the first call of weather."""
ANY_RESULT = re.compile(r"result \d+ of weather")
"""Its default result for any call of weather."""

IN_THE_LAST_PIECE = Cut(0.3, "last-piece")
BEFORE_THE_FINISH = Cut(0.7, "before-finish")
IN_THE_FINISH = Cut(0.95, "finish")


def _place(cut: Cut) -> str:
    return cut.place or ""


@requirement("cut-reply-runs-nothing")
@pytest.mark.parametrize("cut", [IN_THE_LAST_PIECE, BEFORE_THE_FINISH, IN_THE_FINISH], ids=_place)
def test_cut_reply_runs_nothing(scenario: Scenario, implementation: Implementation, cut: Cut) -> None:
    """The connection breaks in the middle of a turn with a call; that turn runs nothing, a repeated turn runs once."""
    scenario.plays(WEATHER, says("Warm."))
    control(implementation.run(), "weather")
    scenario.plays(Step(WEATHER, fault=cut), WEATHER, says("Warm."))

    run = implementation.run()

    run.replied(1)
    again = 2 in run.turns
    what = "after the turn that broke was asked for again, and came whole" if again else "after a turn that broke"
    same_runs(RAN if again else [], run.tools_ran, what)


@requirement("cut-reply-is-told")
@pytest.mark.parametrize("cut", [IN_THE_LAST_PIECE, BEFORE_THE_FINISH], ids=_place)
def test_cut_reply_is_told(scenario: Scenario, implementation: Implementation, cut: Cut) -> None:
    """The connection breaks in the middle of the answer."""
    scenario.plays(Step(says("The capital of France is Paris."), fault=cut), says("Once more: Paris."))

    run = implementation.run()

    run.replied(1)
    assert shows_failure(run) or len(run.requests) > 1, f"the loop {run.outcome}, as if nothing had been lost"


TOO_LONG = frozenset({"length", "other"})
"""The stop reasons of a value that tell its caller that the context is too long."""


@requirement("http-error-is-told")
@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, pytest.param(529, marks=on("anthropic-messages"))])
def test_http_error_is_told(scenario: Scenario, implementation: Implementation, status: int) -> None:
    """The service answers every request with an error."""
    fails_always(scenario, implementation, HttpError(status, SOON))


@requirement("http-error-is-told")
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_error_in_another_form(scenario: Scenario, implementation: Implementation, body: str) -> None:
    """The service refuses every request, with a body of another form than that of its own errors."""
    fails_always(scenario, implementation, HttpError(400, SOON, body=body))


@requirement("http-error-is-told")
@pytest.mark.parametrize("status", [400, 500])
def test_http_error_after_tools(scenario: Scenario, implementation: Implementation, status: int) -> None:
    """After a round of tools the service answers every request with an error."""
    fails_always(scenario, implementation, HttpError(status, SOON), WEATHER)


@requirement("http-error-is-told")
def test_http_error_after_words(scenario: Scenario, implementation: Implementation) -> None:
    """After a turn with a text beside its call the service refuses every request; the text is no answer."""
    fails_always(
        scenario, implementation, HttpError(400, SOON), calls(Call.of("weather", {"city": "Paris"}), text="Let me see.")
    )


@requirement("http-error-is-told")
def test_context_that_stays_too_long(scenario: Scenario, implementation: Implementation) -> None:
    """After a round of tools every request is too long for the model; a stop reason may say so in place of an error."""
    fails_always(scenario, implementation, too_long(implementation.cell.wire), WEATHER, told_by=TOO_LONG)


@requirement("page-instead-of-json-is-told")
def test_page_of_html(scenario: Scenario, implementation: Implementation) -> None:
    """A proxy answers every request with a page of HTML and status 200."""
    fails_always(scenario, implementation, Step(says("Never seen."), fault=NotJson()), what="a page of HTML")


@requirement("page-instead-of-json-is-told")
def test_empty_page(scenario: Scenario, implementation: Implementation) -> None:
    """A proxy answers every request with an empty page and status 200."""
    fails_always(scenario, implementation, Step(says("Never seen."), fault=NotJson(empty=True)), what="an empty page")


@requirement("reply-without-choices-is-told")
@pytest.mark.parametrize("quirk", ["no-choices", "choices-null"])
def test_no_choices(scenario: Scenario, implementation: Implementation, quirk: Quirk) -> None:
    """Each reply has the status 200 and no choice, or null for the list of them."""
    without = Step(says("Never seen."), DEFAULT.but(quirk=quirk))
    fails_always(scenario, implementation, without, what="a reply without choices")


@requirement("error-body-with-200-is-told")
def test_error_with_status_200(scenario: Scenario, implementation: Implementation) -> None:
    """Each reply has the status 200 and the body of an error."""
    fails_always(scenario, implementation, HttpError(200), what="an error and the status 200")


def _failing_after_tools(scenario: Scenario, implementation: Implementation, error: HttpError) -> Run:
    scenario.plays(WEATHER, error, *[Step(None, by=_as_the_model_would)] * 2, says("Warm."))
    run = implementation.run()
    run.delivered(1)
    run.replied(2)
    told = json.dumps(run.request(2).body)
    if run.program is None and not ANY_RESULT.search(told):  # programs say it in their own words
        raise NotReached("the request that fails does not have the result of the tool that ran before it")
    return run


def _as_the_model_would(body: Any) -> Turn:
    """The call again if the request does not contain its result, otherwise the answer."""
    return says("Warm.") if RESULT in json.dumps(body) else WEATHER


@requirement("retry-never-reruns-a-tool")
@pytest.mark.parametrize("headers", [SOON, ()], ids=["retry-after", "no-retry-after"])
@pytest.mark.parametrize("status", [429, 500, pytest.param(529, marks=on("anthropic-messages"))])
def test_no_second_run(
    scenario: Scenario, implementation: Implementation, status: int, headers: tuple[tuple[str, str], ...]
) -> None:
    """The request with the results fails; whatever the loop does then, the tool has run once."""
    run = _failing_after_tools(scenario, implementation, HttpError(status, headers))

    same_runs(RAN, run.tools_ran, "after a request with the result of the tool failed")


STREAMS = "*/stream/*"
BREAKS = [
    pytest.param(IN_THE_LAST_PIECE, id="cut"),
    pytest.param(BEFORE_THE_FINISH, id="cut-before-the-finish"),
    pytest.param(NoFinish(done=False), id="no-finish", marks=on(STREAMS)),
    pytest.param(ErrorEvent(), id="error-event", marks=on(STREAMS)),
]
"""The ways in which a reply breaks."""


def _breaking_after_tools(scenario: Scenario, implementation: Implementation, step: Step) -> Run:
    """A round of tools, then a turn that breaks; if it is requested again, it arrives whole."""
    assert step.turn is not None
    scenario.plays(WEATHER, step, step.turn, says("Done."))
    run = implementation.run()
    run.delivered(1)
    run.replied(2)
    return run


@requirement("broken-reply-reruns-no-tool")
@pytest.mark.parametrize("fault", BREAKS)
def test_break_after_tools(scenario: Scenario, implementation: Implementation, fault: Fault) -> None:
    """The reply to the first results breaks in a call; whatever the loop does then, the first tool has run once."""
    run = _breaking_after_tools(scenario, implementation, Step(SUM, fault=fault))

    assert RAN == [ran for ran in run.tools_ran if ran in RAN]


def _loss_is_reported(scenario: Scenario, implementation: Implementation, fault: Fault) -> None:
    run = _breaking_after_tools(scenario, implementation, Step(says("It is warm in Paris."), fault=fault))

    assert shows_failure(run) or len(run.requests) > 2, f"the loop {run.outcome}, as if nothing had been lost"


@requirement("cut-reply-is-told")
@pytest.mark.parametrize("cut", [IN_THE_LAST_PIECE, BEFORE_THE_FINISH], ids=_place)
def test_cut_after_tools(scenario: Scenario, implementation: Implementation, cut: Cut) -> None:
    """The connection breaks in the answer that follows a round of tools."""
    _loss_is_reported(scenario, implementation, cut)


@requirement("stream-without-finish-is-told")
def test_no_finish_after_tools(scenario: Scenario, implementation: Implementation) -> None:
    """The stream of the answer that follows a round of tools ends without a finish reason."""
    _loss_is_reported(scenario, implementation, NoFinish(done=False))


@requirement("error-event-is-told")
def test_error_event_after_tools(scenario: Scenario, implementation: Implementation) -> None:
    """The stream of the answer that follows a round of tools ends with an error."""
    _loss_is_reported(scenario, implementation, ErrorEvent())


@requirement("error-event-is-told")
def test_error_event_alone(scenario: Scenario, implementation: Implementation) -> None:
    """Each stream has an error in place of its first event, and nothing else; a plain reply has an error status."""
    alone = Step(says("Never seen."), fault=ErrorEvent(after=0))
    fails_always(scenario, implementation, alone, what="a stream of one error")


@requirement("repeated-answer-is-the-whole-one")
@pytest.mark.parametrize("fault", BREAKS)
def test_answer_comes_again(scenario: Scenario, implementation: Implementation, fault: Fault) -> None:
    """A reply breaks in its text, and the same request is then answered with another text."""
    begun, whole = "The capital of France", "Once more: Paris."
    scenario.plays(Step(says(f"{begun} is, as far as I know, Paris."), fault=fault), says(whole))

    run = implementation.run()

    run.replied(1)
    if len(run.requests) < 2:
        raise NotApplicable(f"the loop does not ask again after a reply that broke: it {run.outcome}")
    if run.request(1).request != run.request(2).request:
        raise NotApplicable("after a reply that broke the loop does not send the same request again")
    run.delivered(2)
    got = run.value.text or ""
    assert begun not in got, f"a reply broke and came again as {whole!r}; the loop returned {got!r}, with the lost one"
    returned(run, whole)


@requirement("retried-request-is-the-same")
@pytest.mark.parametrize("status", [429, 500])
def test_same_history_again(scenario: Scenario, implementation: Implementation, status: int) -> None:
    """A request that is retried carries the same history and tools; a loop that does not retry sends none."""
    run = _failing_after_tools(scenario, implementation, HttpError(status, SOON))

    first = run.request(2).request
    before = run.without_own_words(first.items)
    for received in run.requests[2:]:
        assert before == run.without_own_words(received.request.items)
        assert first.tools == received.request.tools, f"request {received.n} offers other tools than request 2"


@requirement("retried-request-is-the-same")
@pytest.mark.parametrize("fault", BREAKS)
def test_same_history_after_a_break(scenario: Scenario, implementation: Implementation, fault: Fault) -> None:
    """A request that is retried because its reply broke in a call carries the same history; a note may follow."""
    run = _breaking_after_tools(scenario, implementation, Step(SUM, fault=fault))

    before = run.without_own_words(run.request(2).request.items)
    for received in run.requests[2:3]:
        assert before == run.without_own_words(received.request.items)[: len(before)]
