"""Decisions about the calls of a suspended run: each is obeyed by its own call."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.bench.assertions.tool_runs import same_runs
from looptck.bench.checks import Implementation, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.talk import Talk, suspended
from looptck.provider.toolbox import Raises, Returns
from looptck.spec.conversing import accepted, answered_later, guarded, stays
from looptck.spec.resuming import TOOLS, approved, by_call, decided, resumed, stop
from looptck.values.outcome import Pending, Suspended
from looptck.values.plain import plain
from looptck.values.turns import Call, Turn, calls, says
from looptck.values.verdicts import NotApplicable, NotReached

NOTE = Call.of("note", {"text": "first"})
ADD = Call.of("add", {"a": 1, "b": 2})
DONE = says("All done.")
ONE: list[Turn] = [calls(NOTE), DONE]
TWO: list[Turn] = [calls(NOTE, Call.of("note", {"text": "second"})), DONE]


def _changed(run: Run, texts: tuple[str, ...]) -> list[dict[str, Any]]:
    """Decisions that approve the calls with one of these texts with another, and the others as they are."""

    def decision(one: Pending) -> dict[str, Any]:
        text = next((text for text in texts if text in str(one.arguments)), None)
        if text is None:
            return {"id": one.id, "decision": "approve"}
        return {"id": one.id, "decision": "change", "parameters": {"text": f"{text}, changed"}}

    return [decision(one) for one in reversed(suspended(run).calls)]


REASONS = {"first": "Not on a Sunday.", "second": "The archive is full."}


def _rejected(run: Run) -> list[dict[str, Any]]:
    """Decisions that reject each call for a reason of its own, the last call first."""

    def decision(one: Pending) -> dict[str, Any]:
        text = "first" if "first" in str(one.arguments) else "second"
        return {"id": one.id, "decision": "reject", "feedback": REASONS[text]}

    return [decision(one) for one in reversed(suspended(run).calls)]


def _goes_on_with_the_calls(run: Run) -> None:
    """A resumed run in which no call ran has results for the calls in its first request. NotReached if it made none."""
    answers = run.request(1).request.answers
    assert answers, "the resumed run asks the model before it runs the calls that were decided, and without a result"


def _asks_about_both(parts: list[Run]) -> None:
    """NotReached if the loop never asks about one of the two calls, as one that has lost it."""
    outcomes = [part.outcome for part in parts if isinstance(part.outcome, Suspended)]
    asked = " ".join(str(one.arguments) for outcome in outcomes for one in outcome.calls)
    left = [text for text in ("first", "second") if text not in asked]
    if left:
        raise NotReached(f"the loop never asks for a decision about the {left[0]} of the two calls")


@requirement("resume-obeys-each-decision")
@pytest.mark.parametrize("text", ["first", "second"])
def test_each_decision_is_obeyed(scenario: Scenario, implementation: Implementation, text: str) -> None:
    """Of two calls of one tool one is approved and one rejected, whichever comes first; both are answered.

    A loop that asks about one after the other may end with the rejection of the first: the second then never runs.
    """
    talk = Talk(implementation, named=implementation.started.can("conversations"))
    first, left = stop(scenario, talk, TWO)
    scenario.plays(*left)

    *_, run = parts = resumed(talk, first, lambda part: decided(part, text))

    ran = [one for part in parts for one in part.tools_ran]
    approves = any(one["decision"] == "approve" for part in parts[:-1] for one in decided(part, text))
    if approves and not ran:
        _goes_on_with_the_calls(run)
    same_runs([("note", {"text": text})] if approves else [], ran)
    if run.ended and not run.requests:
        answered_later(scenario, talk, tools=TOOLS)
        return
    _asks_about_both(parts)
    accepted(run.request(1))
    assert 2 == len(run.request(1).request.answers), "not each of the two calls has one result"


@requirement("resume-obeys-each-decision")
def test_the_latest_decision_is_obeyed(scenario: Scenario, implementation: Implementation) -> None:
    """The same state is resumed twice, with an approval and then with a rejection: the second time nothing runs.

    A loop may take each state once, and refuse the second decision or pass over it.
    """
    talk = Talk(implementation, named=False)
    first, left = stop(scenario, talk, ONE)
    scenario.plays(*left)
    second = talk.resume(first, approved(first), tools=TOOLS)
    if not second.tools_ran:
        raise NotReached(f"the approved call has not run, and the loop {second.outcome}")
    scenario.plays(*left)

    third = talk.resume(first, _rejected(first), tools=TOOLS)

    ran = third.arguments_of("note")
    assert not ran, f"the state was resumed once more, and its call rejected this time; it ran with {plain(ran[0])}"


@requirement("resume-obeys-each-decision")
def test_each_reason_is_for_its_call(scenario: Scenario, implementation: Implementation) -> None:
    """Two calls are rejected for two reasons: no result has the reason of the other call in place of its own."""
    talk = Talk(implementation, named=False)
    first, left = stop(scenario, talk, TWO)
    scenario.plays(*left)

    *_, run = parts = resumed(talk, first, _rejected)

    if run.ended and not run.requests:
        raise NotApplicable(f"the loop ends the run with a rejection: it {run.outcome}")
    _asks_about_both(parts)
    for told in by_call(run.request(1).request):
        for text, other in (("first", "second"), ("second", "first")):
            mixed = text in told and REASONS[other] in told and REASONS[text] not in told
            assert not mixed, f"the {text} call was rejected with {REASONS[text]!r}, and its result is {told!r}"


@requirement("resume-obeys-each-decision")
def test_an_approved_call_fails(scenario: Scenario, implementation: Implementation) -> None:
    """Two calls are approved, and the first tool raises: a loop that goes on has a result for each."""
    talk = Talk(implementation, named=False)
    first, left = stop(scenario, talk, TWO)
    scenario.plays(*left)
    scenario.does("note", Raises("no room for a note"), Returns("noted"))

    *_, run = parts = resumed(talk, first, approved)

    if run.failed and not run.requests:
        raise NotApplicable(f"the loop ends the run with an error of a tool: it {run.outcome}")
    _asks_about_both(parts)
    accepted(run.request(1))
    assert 2 == len(run.request(1).request.answers), "not each of the two calls has one result"


@requirement("resume-obeys-each-change")
@pytest.mark.parametrize("changed", [("first",), ("second",), ("first", "second")], ids="-and-".join)
def test_each_change_is_obeyed(scenario: Scenario, implementation: Implementation, changed: tuple[str, ...]) -> None:
    """Of two calls of one tool one or both are approved with another text; both run, each with its own."""
    talk = Talk(implementation, named=False)
    first, left = stop(scenario, talk, TWO)
    scenario.plays(*left)

    *_, run = parts = resumed(talk, first, lambda part: _changed(part, changed))

    _asks_about_both(parts)
    if not any(part.tools_ran for part in parts):
        _goes_on_with_the_calls(run)
    texts = [f"{text}, changed" if text in changed else text for text in ("first", "second")]
    same_runs([("note", {"text": text}) for text in texts], [one for part in parts for one in part.tools_ran])
    accepted(run.request(1))


@requirement("unchanged-arguments-stay")
def test_one_of_two_arguments_is_changed(scenario: Scenario, implementation: Implementation) -> None:
    """A call with two arguments is approved with another value for one of them."""
    implementation.needs("suspend")
    tools = guarded("add")
    talk = Talk(implementation, named=False)
    scenario.plays(calls(ADD))
    first = talk.run("Go.", tools=tools)
    decisions = [{"id": one.id, "decision": "change", "parameters": {"a": 5}} for one in suspended(first).calls]
    scenario.plays(DONE)

    run = talk.resume(first, decisions, tools=tools)

    stays(run.ran_of("add").arguments)
