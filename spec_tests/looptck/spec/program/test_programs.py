"""Profile ``program``: what only whole programs show. The rest of the profile is played by the tests of other rows."""

from __future__ import annotations

import pytest

from looptck.bench.assertions.caller import shows_failure
from looptck.bench.checks import Implementation, control, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.provider.faults import Cut, ErrorEvent, Fault, HttpError
from looptck.provider.program_run import BESIDE_WITH_TOOLS
from looptck.provider.script import Step
from looptck.spec.failing_service import FailingService
from looptck.values.history import Said
from looptck.values.jsontext import compact
from looptck.values.plain import plain
from looptck.values.program import Exit, ProgramRun
from looptck.values.transcript import SideRequest
from looptck.values.turns import Call, Turn, calls, says
from looptck.values.verdicts import NotApplicable, NotReached

WEATHER = calls(Call.of("weather", {"city": "Paris"}))
SUM = calls(Call.of("add", {"a": 1, "b": 2}))
SOON = (("retry-after-ms", "5"), ("retry-after", "0"))
MOST = 24
"""More requests than any program sends that ever gives up."""
BREAKS = [pytest.param(ErrorEvent(), id="error-event"), pytest.param(Cut(0.7, "before-finish"), id="cut")]


def _program(run: Run) -> ProgramRun:
    """What the run shows of a program. Raises NotApplicable for any other implementation."""
    if run.program is None:
        raise NotApplicable("the implementation is no program")
    return run.program


def _exit(run: Run) -> Exit:
    """The end of its process. Raises NotReached if it never ended."""
    found = _program(run).exit
    if found is None or found.status is None:
        raise NotReached(f"the process never ended by itself: it {run.outcome}")
    return found


def _all_told(run: Run) -> None:
    """Assert that each request carries the call and a result of every run that was marked before it."""
    for mark in _program(run).marks:
        for received in run.requests:
            if received.at <= mark.at:
                continue
            ids = [asked.id for asked in received.request.asked if mark.is_of(asked)]
            where = f"request {received.n} came after the tool had run as {mark.tool}"

            assert ids, f"{where}, and does not carry its call ({mark.text or mark.arguments})"
            answered = {answer.id for answer in received.request.answers}
            assert answered.intersection(ids), f"{where}, and carries no result for {ids[0]}"


@requirement("program-what-ran-is-told")
def test_what_ran_in_a_chain(scenario: Scenario, implementation: Implementation) -> None:
    """Two rounds of tools, then the answer."""
    scenario.plays(WEATHER, SUM, says("All done."))

    run = implementation.run()

    control(run, "weather", "add")
    _all_told(run)


@requirement("program-what-ran-is-told")
@pytest.mark.parametrize("fault", BREAKS)
def test_what_ran_early(scenario: Scenario, implementation: Implementation, fault: Fault) -> None:
    """A turn breaks after its whole call; if that has run already, the repeated request says so."""
    scenario.plays(WEATHER, says("Warm."))
    control(implementation.run(), "weather")
    scenario.plays(Step(WEATHER, fault=fault), WEATHER, says("Warm."))

    run = implementation.run()

    run.replied(1)
    if not any(mark.lost for mark in _program(run).marks):
        raise NotApplicable("no call of the broken turn has run, so there is nothing to tell")
    if len(run.requests) == 1:
        assert shows_failure(run), f"a call of a broken turn has run, and the program {run.outcome}"
    _all_told(run)


@requirement("program-exit-status-tells-success")
def test_exit_status_of_an_answer(scenario: Scenario, implementation: Implementation) -> None:
    """A call, then the answer."""
    scenario.plays(WEATHER, says("It is warm."))

    run = implementation.run()

    run.delivered(2)
    assert 0 == _exit(run).status, f"the exit status is {_exit(run).status} after an answer"


@requirement("program-exit-status-tells-failure")
@pytest.mark.parametrize("status", [400, 401])
def test_exit_status_of_a_failure(scenario: Scenario, implementation: Implementation, status: int) -> None:
    """The service refuses every request."""
    errs = FailingService(HttpError(status, SOON))
    scenario.always(errs, most=MOST)

    run = implementation.run()

    run.replied(1)
    if errs.answered:
        raise NotApplicable("the program asked again with growing waits until the kit gave it an answer")
    assert 0 != _exit(run).status, "the exit status is 0, although the service has refused every request"


@requirement("program-leaves-no-process")
def test_no_process_is_left(scenario: Scenario, implementation: Implementation) -> None:
    """A call, then the answer."""
    scenario.plays(WEATHER, says("It is warm."))

    run = implementation.run()

    control(run, "weather")
    left = _exit(run).left
    assert not left, f"after its end {len(left)} processes were alive: {'; '.join(left)}"


@requirement("program-asks-beside-without-tools")
@pytest.mark.parametrize("turns", [[WEATHER, says("It is warm.")], [says("Good morning.")]], ids=["call", "answer"])
def test_requests_beside_the_loop(scenario: Scenario, implementation: Implementation, turns: list[Turn]) -> None:
    """So many requests with tools as the script has turns, and any number without."""
    scenario.plays(*turns)

    run = implementation.run()

    run.request(1)
    beside = [event for event in run.transcript.events if isinstance(event, SideRequest)]
    with_tools = sum(event.answered == BESIDE_WITH_TOOLS for event in beside)
    assert not with_tools, f"{with_tools} of {len(beside)} requests beside the loop offer tools"
    for received in run.requests[1:]:
        carried = any(asked.id for asked in received.request.asked)
        assert carried, f"request {received.n} offers tools, and is no continuation of the conversation"
    made = len(run.requests)
    assert made <= len(turns), f"{made} requests offer tools, where the script has {len(turns)} turns"


@requirement("program-prompt-reaches-the-model")
def test_prompt(scenario: Scenario, implementation: Implementation) -> None:
    """The prompt has blanks and quotes."""
    prompt = "Please write down: the word 'azure', and \"two  blanks\"."
    scenario.plays(says("All done."))

    run = implementation.run(prompt)

    items = run.request(1).request.items
    said = [item.text for item in items if isinstance(item, Said) and item.role == "user"]
    assert said, "the first request has no message of the user"
    assert any(prompt in text for text in said), f"no message of the user contains the prompt; the last is {said[-1]!r}"


@requirement("program-offers-the-same-tools")
def test_same_tools(scenario: Scenario, implementation: Implementation) -> None:
    """Two rounds of tools, then the answer."""
    scenario.plays(WEATHER, SUM, says("All done."))

    run = implementation.run()

    run.request(2)
    first = {tool.name for tool in run.request(1).request.tools}
    for received in run.requests[1:]:
        offered = {tool.name for tool in received.request.tools}
        assert first == offered, (
            f"request {received.n} offers other tools than request 1: {plain(sorted(first ^ offered))}"
        )


@requirement("program-tasks-do-not-leak")
def test_one_task_after_the_other(scenario: Scenario, implementation: Implementation) -> None:
    """A task with a word that nothing else has, then another task."""
    scenario.plays(WEATHER, says("The word is quixotic-7391."))
    first = implementation.run("The word of this task is zephyr-5083.")
    control(first, "weather")
    scenario.plays(SUM, says("All done."))

    run = implementation.run("Another task.")

    run.request(1)
    words = ["zephyr-5083", "quixotic-7391", *(mark.text for mark in _program(first).marks if mark.text)]
    for received in run.requests:
        found = [word for word in words if word in compact(received.body).decode()]
        assert not found, f"request {received.n} carries {found[0]!r}, a word of the task before it"


@requirement("program-failed-call-is-told")
def test_failed_call(scenario: Scenario, implementation: Implementation) -> None:
    """The described tool fails after it has left its mark."""
    scenario.plays(WEATHER, says("It failed."))
    scenario.raises("weather", "It is out of order.")

    run = implementation.run()

    run.delivered(1)
    if len(run.requests) == 1:
        assert shows_failure(run), f"the failure reached neither the caller nor the model: the program {run.outcome}"
        return
    texts = [answer.text for answer in run.answers(1)]
    assert 1 == len(texts), f"the call that failed has {len(texts)} results in the next request"
    assert texts[0].strip(), "the result of the call that failed is empty"
