"""Choices of the caller: which tools the model may call or has to call, and how many in one turn."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import pytest

from looptck.bench.answering import ruled_out
from looptck.bench.assertions.results import answered_once
from looptck.bench.checks import Implementation, requirement
from looptck.bench.choices import SINGLE, Wanted, chosen, form
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.talk import Talk
from looptck.provider.script import RUNAWAY_CAP
from looptck.provider.toolbox import Raises, Returns
from looptck.spec.obeying import may_not_call
from looptck.values.outcome import Failed, Value
from looptck.values.transcript import Received
from looptck.values.turns import Call, Turn, calls, says
from looptck.values.verdicts import NotApplicable, NotReached

WEATHER = {"tool": "weather"}
CHOICES: Mapping[str, Wanted] = {"auto": "auto", "required": "required", "none": "none", "named": WEATHER}
FORCED: Mapping[str, Wanted] = {"required": "required", "named": WEATHER}
LIMIT = 4
RUNAWAY = 16
"""Enough to show that a limit of four was not enforced."""
TOLD = {"limit", "calls", "other"}
"""The stop reasons of a run that ends without an answer, and says so."""
REPORT = "18 degrees and a light wind"
"""What the tool returns, word by word as a loop would return it that ends with the result of a forced call."""


def _call(n: int) -> Call:
    return Call.of("weather", {"city": f"Paris {n}"})


def _refusals(received: Received, *members: str) -> list[str]:
    """The refusals of a request that are about these members, wherever they are."""
    found = [one for one in received.problems if {*members} & {*one.pointer.split("/")}]
    return [f"request {received.n} {one.refusal}: {one.reported} ({one.rule})" for one in found]


@requirement("choice-reaches-the-service")
@pytest.mark.parametrize("wanted", CHOICES.values(), ids=CHOICES)
def test_choice(scenario: Scenario, implementation: Implementation, wanted: Wanted) -> None:
    """The first request has the caller's choice, in a form of its wire."""
    scenario.plays(says("Hello.") if wanted in ("auto", "none") else calls(_call(1)), says("Done."))

    run = implementation.run(tool_choice=wanted)

    _chooses(implementation, run, wanted)


def _chooses(implementation: Implementation, run: Run, wanted: Wanted) -> None:
    """Assert that the first request of a run has this choice."""
    received = run.request(1)
    found = chosen(run, received)
    wire, meant = run.cell.wire, wanted if isinstance(wanted, str) else wanted["tool"]
    said = f"the caller chose {meant}, which {wire} says as {form(wire, wanted)}; request 1 {found.words}"
    refused = _refusals(received, "tool_choice")
    assert not refused, f"{said}; {refused[0]}"
    by_call = implementation.started.answer is not None
    assert found.is_of(wanted, run.offered, answers_by_call=by_call), said


@requirement("choice-reaches-the-service")
@pytest.mark.parametrize("how", ["conversation", "one-agent"])
def test_choice_of_the_next_run(scenario: Scenario, implementation: Implementation, how: str) -> None:
    """The caller forces a call, and once more in the next run of the conversation or of the agent object."""
    implementation.needs("conversations" if how == "conversation" else "shared")
    talk = Talk(implementation, named=how == "conversation")
    agent = talk.id if how == "one-agent" else None
    scenario.plays(calls(_call(1)), says("Done."))
    first = talk.run("What is the weather?", tool_choice="required", shared=agent)
    if not chosen(first, first.request(1)).forced:
        raise NotReached(f"request 1 forces no call: it {chosen(first, first.request(1)).words}")
    first.delivered(1)
    scenario.plays(calls(_call(2)), says("Done."))

    run = talk.run("What is the weather now?", tool_choice="required", shared=agent)

    _chooses(implementation, run, "required")


@requirement("single-calls-reach-the-service")
def test_single_calls(scenario: Scenario, implementation: Implementation) -> None:
    """Each request that lets the model call forbids several calls."""
    scenario.plays(calls(_call(1)), calls(_call(2)), says("Done."))

    run = implementation.run(parallel_calls=False)

    _are_single(run)
    run.request(3)


@requirement("single-calls-reach-the-service")
@pytest.mark.parametrize("wanted", FORCED.values(), ids=FORCED)
def test_single_calls_beside_a_choice(scenario: Scenario, implementation: Implementation, wanted: Wanted) -> None:
    """The caller forbids several calls and forces one; the choice does not take the place of the option."""
    implementation.needs("tool_choice")

    _are_single(_both(scenario, implementation, wanted))


@requirement("choice-reaches-the-service")
@pytest.mark.parametrize("wanted", FORCED.values(), ids=FORCED)
def test_choice_beside_single_calls(scenario: Scenario, implementation: Implementation, wanted: Wanted) -> None:
    """The caller forces a call and forbids several; the option does not take the place of the choice."""
    implementation.needs("single_calls")

    _chooses(implementation, _both(scenario, implementation, wanted), wanted)


def _both(scenario: Scenario, implementation: Implementation, wanted: Wanted) -> Run:
    """A run with a forced choice whose caller forbids several calls."""
    scenario.plays(calls(_call(1)), says("Done."))
    return implementation.run(parallel_calls=False, tool_choice=wanted)


def _are_single(run: Run) -> None:
    """Assert that no request lets the model make several calls in its turn."""
    run.request(1)
    for received in run.requests:
        found = chosen(run, received)
        said = f"the caller forbade several calls, which {run.cell.wire} says as {SINGLE[run.cell.wire]}"
        refused = _refusals(received, "parallel_tool_calls", "disable_parallel_tool_use")
        assert not refused, f"{said}; {refused[0]}"
        assert found.single or not found.callable, f"{said}; request {received.n} {found.words}"


@requirement("calls-beyond-a-forbidden-parallel-are-answered")
def test_two_calls_all_the_same(scenario: Scenario, implementation: Implementation) -> None:
    """The caller forbids several calls and the model makes two, as some servers let it."""
    implementation.plays_several = True
    scenario.plays(calls(_call(1), Call.of("ping")), says("Done."))

    run = implementation.run(parallel_calls=False)

    run.delivered(1)
    if isinstance(run.outcome, Failed) and len(run.requests) == 1:
        raise NotApplicable(f"the loop takes two calls for a fault of the service, and {run.outcome}")
    answered_once(run, 1)


@requirement("forbidden-calls-stay-forbidden")
def test_a_call_all_the_same(scenario: Scenario, implementation: Implementation) -> None:
    """The caller forbids calls and the model makes one, as some servers let it; the next request forbids them too."""
    scenario.plays(calls(_call(1)), says("Done."))

    run = implementation.run(tool_choice="none")

    if not _forbids(implementation, run, 1):
        raise NotReached(f"request 1 does not forbid calls: it {chosen(run, run.request(1)).words}")
    run.delivered(1)
    if run.ended and len(run.requests) == 1:
        raise NotApplicable(f"the loop does not go on behind a call that its caller forbade, and {run.outcome}")
    words = chosen(run, run.request(2)).words
    assert _forbids(implementation, run, 2), (
        f"the caller forbade calls, which request 1 says and request 2 no longer does: it {words}; a loop that "
        "documents that a choice is for the first request alone declares dialect.tool_choice"
    )


def _forbids(implementation: Implementation, run: Run, n: int) -> bool:
    """Whether a request lets the model call no tool of the case; a tool for the answer is none."""
    by_call = implementation.started.answer is not None
    found = chosen(run, run.request(n))
    return may_not_call(run.request(n).body) or found.is_of("none", run.offered, answers_by_call=by_call)


@requirement("no-tool-options-without-tools")
@pytest.mark.parametrize("wanted", ["auto", "none"])
def test_choice_without_tools(scenario: Scenario, implementation: Implementation, wanted: str) -> None:
    """The caller has a choice and no tools, and the service takes the request."""
    implementation.needs("tool_choice")

    _is_taken(scenario, implementation, tool_choice=wanted)


@requirement("no-tool-options-without-tools")
def test_single_calls_without_tools(scenario: Scenario, implementation: Implementation) -> None:
    """The caller forbids several calls and has no tools, and the service takes the request."""
    implementation.needs("single_calls")

    _is_taken(scenario, implementation, parallel_calls=False)


def _is_taken(scenario: Scenario, implementation: Implementation, **options: Any) -> None:
    """Assert that the service takes the request of a run without tools and with these options.

    The control is a run without them: it has a request.
    """
    scenario.plays(says("Hello."))
    implementation.run(tools=[]).request(1)

    run = implementation.run(tools=[], **options)

    if isinstance(run.outcome, Failed) and not run.requests:
        raise NotApplicable(f"without tools the loop takes no such option, and {run.outcome}")
    problems = [f"{one.refusal}: {one.reported} ({one.rule})" for one in run.request(1).problems]
    assert not problems, f"request 1, which offers no tools, {problems[0]}"
    run.delivered(1)


def _forced(scenario: Scenario, implementation: Implementation, wanted: Wanted, *, fails: bool = False) -> Run:
    """A run with a forced choice. Its model obeys: it calls as long as requests force it to, and else answers.

    Raises:
        NotReached: the choice never came to the service.
    """
    answer, limited = implementation.started.answer, implementation.started.can("limit")
    turns = itertools.count(1)

    def obeys(body: Any) -> Turn:
        n, free = next(turns), ruled_out(body, answer) is None
        return says("Done.") if may_not_call(body) or (free and n > 1) else calls(_call(n))

    scenario.listens(obeys, most=RUNAWAY if limited else RUNAWAY_CAP)
    scenario.does("weather", Raises("no such place") if fails else Returns(REPORT))
    run = implementation.run(tool_choice=wanted, limit=LIMIT if limited else None)
    if not chosen(run, run.request(1)).forced:
        raise NotReached(f"request 1 forces no call: it {chosen(run, run.request(1)).words}")
    run.delivered(1)
    return run


@requirement("forced-choice-ends")
@pytest.mark.parametrize("wanted", FORCED.values(), ids=FORCED)
def test_forced_run_ends(scenario: Scenario, implementation: Implementation, wanted: Wanted) -> None:
    """The run ends: with the answer, with the result of the call, or told that there is none."""
    run = _forced(scenario, implementation, wanted)

    last = run.requests[-1]
    choice = ruled_out(last.body, implementation.started.answer)
    still = f"request {last.n} still forces a call ({choice}), so the model cannot answer"
    most = RUNAWAY if implementation.started.can("limit") else RUNAWAY_CAP
    assert not run.is_endless(most), f"the loop does not end: {still}"
    run.delivered(last.n)
    if choice is not None and isinstance(run.outcome, Value):
        handed = REPORT in (run.outcome.text or "")
        assert handed or run.outcome.stop in TOLD, f"the loop {run.outcome}, as if that were an answer; {still}"
    if choice is None and isinstance(run.outcome, Failed):
        raise AssertionError(f"the model answered request {last.n}, and the loop {run.outcome}")


@requirement("forced-choice-is-for-one-round")
@pytest.mark.parametrize("fails", [False, True], ids=["returns", "raises"])
@pytest.mark.parametrize("wanted", FORCED.values(), ids=FORCED)
def test_model_is_free_after_the_call(
    scenario: Scenario, implementation: Implementation, wanted: Wanted, fails: bool
) -> None:
    """The request after the round of tools lets the model answer; where the tool fails, one of the next may be it."""
    run = _forced(scenario, implementation, wanted, fails=fails)

    if fails and run.failed and len(run.requests) == 1:
        raise NotApplicable(f"the loop ends with the error of the tool: it {run.outcome}")
    if isinstance(run.outcome, Value) and len(run.requests) == 1:
        raise NotApplicable(f"the loop ends with the result of the forced call: it {run.outcome}")
    run.request(2)
    choices = [ruled_out(one.body, implementation.started.answer) for one in run.requests[1 : None if fails else 2]]
    which = f"each of the requests 2 to {len(choices) + 1}, whose tool has failed," if len(choices) > 1 else "request 2"
    assert None in choices, (
        f"{which} has the {choices[0]}, so the model cannot answer; a loop whose documents say that the choice holds "
        "for every request declares dialect.tool_choice"
    )


@requirement("forced-choice-is-for-one-round")
def test_next_question_is_free(scenario: Scenario, implementation: Implementation) -> None:
    """The caller forces a call, and then asks another question of the conversation without a choice."""
    implementation.needs("conversations")
    talk = Talk(implementation)
    scenario.plays(calls(_call(1)), says("Done."))
    first = talk.run("What is the weather?", tool_choice="required")
    if not chosen(first, first.request(1)).forced:
        raise NotReached(f"request 1 forces no call: it {chosen(first, first.request(1)).words}")
    scenario.plays(says("You are welcome."))

    run = talk.run("Thank you.")

    choice = ruled_out(run.request(1).body, implementation.started.answer)
    assert choice is None, f"the caller forced a call in the run before, and the request of this one has the {choice}"
