"""Approval: a hook is asked before a call of a tool that needs approval runs, and its decision is obeyed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from looptck.bench.assertions.results import answered_once
from looptck.bench.assertions.tool_runs import never_ran, tools_ran
from looptck.bench.checks import Implementation, control, refusable, requirement
from looptck.bench.observed import Question
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.talk import Talk
from looptck.provider.confirmation import Approve, Change, Decides, Decision, Reject, Unavailable
from looptck.provider.gate import Gate
from looptck.provider.gates import tool_begins_too_early
from looptck.spec.casting import BILLING, FRONT, Cast, Part, asks
from looptck.spec.casting import TOOLS as OFFICE
from looptck.spec.conversing import accepted, answered_later, guarded, stays
from looptck.values.history import spelled
from looptck.values.plain import MOST, plain
from looptck.values.transcript import Received
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotApplicable, NotReached

NOTE = Call.of("note", {"text": "first"})
OTHER = Call.of("note", {"text": "second"})
CALL = Call.of("weather", {"city": "Paris"})
ADD = Call.of("add", {"a": 1, "b": 2})
REFUND = Call.of("refund", {"order": "4711"})
TOOLS = guarded("note")
NO = "Not on a Sunday."


def _asked(run: Run, tool: str = "note") -> list[Question]:
    """The questions about a tool. NotReached if there is none with an answer."""
    questions = [one for one in run.questions if one.call.get("name") == tool]
    if not any(one.decision for one in questions):
        raise NotReached(f"no confirmation was asked for {tool}; {run.tools_ran} ran, and the loop {run.outcome}")
    return questions


def _only(text: str) -> Decides:
    """Approves the calls with this text in their arguments."""

    def decide(call: Mapping[str, Any]) -> Decision:
        return Approve() if text in str(call.get("arguments")) else Reject(NO)

    return decide


def _with_another_text(call: Mapping[str, Any]) -> Decision:
    """Approves a call with more than its text."""
    text = "first" if "first" in str(call.get("arguments")) else "second"
    return Change({"text": f"{text}, changed"})


@requirement("nothing-runs-unapproved")
def test_it_waits_for_the_answer(scenario: Scenario, implementation: Implementation) -> None:
    """The answer of the hook takes its time; the tool begins when it is there."""
    scenario.plays(calls(NOTE), says("Noted."))
    scenario.decides(Approve(hold=tool_begins_too_early("note")))

    run = implementation.run(tools=TOOLS, confirms=True)

    decided = _asked(run)[0].decided or 0.0
    assert decided <= run.tool_began("note"), "the tool began before its call was approved"


@requirement("nothing-runs-unapproved")
def test_every_call_is_asked_about(scenario: Scenario, implementation: Implementation) -> None:
    """Three calls in two turns run, each after a question about it."""
    scenario.plays(calls(NOTE, OTHER), calls(Call.of("note", {"text": "third"})), says("Noted."))

    run = implementation.run(tools=TOOLS, confirms=True)

    _asked(run)
    for text in ("first", "second", "third"):
        about = [one for one in run.questions if text in str(one.call.get("arguments"))]
        decided = min((one.decided for one in about if one.decided), default=run.transcript.now())
        ran = [one for one in run.ran if text in str(one.arguments)]
        if not ran:
            raise NotReached(f"the approved call with the text {text!r} never ran; the loop {run.outcome}")
        assert decided <= ran[0].began, f"the call with the text {text!r} ran before it was asked about, or without"


@requirement("nothing-runs-unapproved")
@pytest.mark.parametrize("failing", [Unavailable(500), Unavailable(None)], ids=["an-error", "a-broken-connection"])
def test_nobody_can_be_asked(scenario: Scenario, implementation: Implementation, failing: Unavailable) -> None:
    """The service of the hook fails: the run ends in an error, or goes on as after a rejection."""
    scenario.plays(calls(NOTE), says("So be it."))
    scenario.decides(Approve())
    control(implementation.run(tools=TOOLS, confirms=True), "note")
    scenario.decides(failing)

    run = implementation.run(tools=TOOLS, confirms=True)

    _asked(run)
    assert not run.arguments_of("note"), f"the service that was asked for an approval {failing}, and the call ran"


@requirement("nothing-runs-unapproved")
@pytest.mark.parametrize("turn", [(CALL, NOTE), (NOTE, CALL)], ids=["behind-a-free-call", "before-a-free-call"])
def test_beside_a_free_call(scenario: Scenario, implementation: Implementation, turn: tuple[Call, ...]) -> None:
    """One of two calls in a turn needs approval, and the hook says no; approved, the same call runs."""
    runs = []
    for decision in (Approve(), Reject(NO)):
        scenario.plays(calls(*turn), says("Noted."))
        scenario.decides(decision)
        runs.append(implementation.run(tools=TOOLS, confirms=True))
        runs[-1].delivered(1)
    allowed, run = runs

    if not allowed.arguments_of("note"):
        raise NotReached(f"the approved call of note never ran; the loop {allowed.outcome}")
    how = "rejected" if run.questions else "never asked about"
    assert not run.arguments_of("note"), (
        f"beside a call of {CALL.tool}, which needs no approval, the call of note was {how}, and it ran"
    )


@requirement("nothing-runs-unapproved")
def test_a_call_of_a_sub_agent(scenario: Scenario, implementation: Implementation) -> None:
    """A sub-agent calls a tool that needs approval, and the hook says no; approved, the same call runs."""
    implementation.needs("subagents")
    agents = (replace(FRONT, subagents=["billing"]), BILLING)
    tools = [replace(tool, approval=tool.name == "refund") for tool in OFFICE]
    runs = []
    for decision in (Approve(), Reject(NO)):
        front = Part("front", [[asks("billing", "See to order 4711.")], ["Done."]])
        cast = Cast(implementation, agents, [front, Part("billing", [[REFUND], ["It is settled."]])])
        scenario.decides(decision)
        scenario.listens(cast.turn)
        runs.append(implementation.run("Please see to my order.", agents=agents, tools=tools, confirms=True))
        cast.reached()
        runs[-1].delivered(2)
    allowed, run = runs

    if not allowed.arguments_of("refund"):
        raise NotApplicable("the loop runs no call of a sub-agent that needs approval, be it approved")
    how = "rejected" if run.questions else "never asked about"
    assert not run.arguments_of("refund"), f"the call of a sub-agent was {how}, and it ran"


@requirement("rejected-call-never-runs")
def test_a_rejected_call(scenario: Scenario, implementation: Implementation) -> None:
    """The hook says no; approved, the same call runs."""
    scenario.plays(calls(NOTE), says("So be it."))
    scenario.decides(Approve())
    control(implementation.run(tools=TOOLS, confirms=True), "note")
    scenario.decides(Reject(NO))

    run = implementation.run(tools=TOOLS, confirms=True)

    _asked(run)
    never_ran(run, ["note"])


@requirement("rejected-call-is-answered")
def test_a_rejected_call_has_a_result(scenario: Scenario, implementation: Implementation) -> None:
    """The model is told, with a result of the call; beside it an approved one has its own.

    A run may end with the rejection. Then the next question of its conversation shows whether the call is answered.
    """
    talk = Talk(implementation, named=implementation.started.can("conversations"))
    scenario.plays(calls(NOTE, OTHER), says("So be it."))
    scenario.decides_by = _only("second")

    run = talk.run(tools=TOOLS, confirms=True)

    _asked(run)
    if run.ended and len(run.requests) == 1:
        answered_later(scenario, talk, tools=TOOLS, confirms=True)
        return
    answered_once(run, 1)
    accepted(run.request(2))


@requirement("approved-siblings-run")
def test_siblings_run(scenario: Scenario, implementation: Implementation) -> None:
    """One call is rejected; an approved one and one that needs no approval run."""
    scenario.plays(calls(NOTE, CALL, OTHER), says("So be it."))
    scenario.decides_by = _only("second")

    run = implementation.run(tools=TOOLS, confirms=True)

    _asked(run)
    tools_ran(run, [{"weather": {"city": "Paris"}}, {"note": {"text": "second"}}])


@requirement("approval-is-for-its-call")
def test_beside_it(scenario: Scenario, implementation: Implementation) -> None:
    """Two calls of one tool: the one that is approved runs."""
    scenario.plays(calls(NOTE, OTHER), says("So be it."))
    scenario.decides_by = _only("second")

    run = implementation.run(tools=TOOLS, confirms=True)

    _asked(run)
    tools_ran(run, [{"note": {"text": "second"}}])


@requirement("approval-is-for-its-call")
def test_in_a_later_turn(scenario: Scenario, implementation: Implementation) -> None:
    """The same call comes again in a later turn, and is rejected there, however often the loop asks."""
    later = Gate("the model is asked again", lambda event: isinstance(event, Received) and event.n > 1)
    scenario.watching = (later,)
    scenario.plays(calls(NOTE), calls(NOTE), says("So be it."))
    scenario.decides_by = lambda _: Reject(NO) if later.is_open else Approve()

    run = implementation.run(tools=TOOLS, confirms=True)

    _asked(run)
    run.delivered(2)
    tools_ran(run, [{"note": {"text": "first"}}])


@requirement("ids-may-come-again")
@refusable("the vendor's own ids never come again")
def test_under_an_id_that_comes_again(scenario: Scenario, implementation: Implementation) -> None:
    """A call is approved, and another in a later turn, which has the same id as at some servers, is rejected."""
    implementation.needs("confirm")
    first, later = (replace(one, id="note:0") for one in (NOTE, OTHER))
    scenario.plays(calls(first), calls(later), says("So be it."))
    scenario.decides_by = _only("first")

    run = implementation.run(tools=TOOLS, confirms=True)

    _asked(run)
    run.delivered(2)
    tools_ran(run, [{"note": {"text": "first"}}])


@requirement("asked-call-is-told-as-written")
def test_it_is_told_as_written(scenario: Scenario, implementation: Implementation) -> None:
    """Whoever decides reads the tool and the arguments of each call: a text with capitals and lines, and numbers."""
    texts = Call.of("note", {"text": "  Ask ALL of them:\n1. Zoë\n2. “Ann” & Bob" + ", and so on" * 40})
    scenario.plays(calls(texts, ADD), says("Noted."))

    run = implementation.run(tools=guarded("note", "add"), confirms=True)

    for one in (texts, ADD):
        for question in _asked(run, one.tool):
            told = question.call.get("arguments")
            spelling = spelled(told if isinstance(told, str) else json.dumps(told))
            assert spelled(one.arguments) == spelling, (
                f"a decision is asked for about {one.tool}({spelling[:MOST]}); "
                f"the model has written {one.tool}({spelled(one.arguments)[:MOST]})"
            )


@requirement("changed-call-runs-as-changed")
def test_changed_calls(scenario: Scenario, implementation: Implementation) -> None:
    """Of two calls of one tool each is approved with another text; approved as they are, both run."""
    scenario.plays(calls(NOTE, OTHER), says("Noted."))
    control(implementation.run(tools=TOOLS, confirms=True), "note", "note")
    scenario.decides_by = _with_another_text

    run = implementation.run(tools=TOOLS, confirms=True)

    _asked(run)
    run.request(2)
    tools_ran(run, [{"note": {"text": "first, changed"}}, {"note": {"text": "second, changed"}}])


@requirement("unchanged-arguments-stay")
def test_one_of_two_arguments_is_changed(scenario: Scenario, implementation: Implementation) -> None:
    """A call with two arguments is approved with another value for one of them; approved as it is, it runs."""
    implementation.needs("confirm")
    tools = guarded("add")
    scenario.plays(calls(ADD), says("Added."))
    control(implementation.run(tools=tools, confirms=True), "add")
    scenario.decides(Change({"a": 5}))

    run = implementation.run(tools=tools, confirms=True)

    _asked(run, "add")
    stays(run.ran_of("add").arguments)


@requirement("each-call-is-asked-about-once")
def test_one_question(scenario: Scenario, implementation: Implementation) -> None:
    """Two calls that need approval and one that needs none: two questions, one for each."""
    scenario.plays(calls(NOTE, CALL, OTHER), says("Noted."))

    run = implementation.run(tools=TOOLS, confirms=True)

    _asked(run)
    asked = sorted(plain(one.call.get("arguments")) for one in run.questions)
    assert 2 == len(asked), f"{len(asked)} questions were asked about two calls: {', '.join(asked)}"
    assert "first" in asked[0]
    assert "second" in asked[1]
