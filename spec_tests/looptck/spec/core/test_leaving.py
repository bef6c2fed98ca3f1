"""Leaving a stream: the caller takes some of an answer and goes; nothing runs on for nobody."""

from __future__ import annotations

from looptck.bench.bench import Scenario
from looptck.bench.checks import Implementation, requirement
from looptck.bench.run import Run
from looptck.bench.talk import Talk
from looptck.provider.gate import Gate
from looptck.provider.script import Hold, Step
from looptck.spec.conversing import accepted
from looptck.values.transcript import Ended, HungUp
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotReached

CALL = Call.of("weather", {"city": "Paris"})
FIRST = "I look at the weather"
AFTER = 1


def _left(run: Run) -> Run:
    """The run. NotReached if its caller has received no chunk that it could leave after."""
    if not run.chunks:
        raise NotReached(f"the caller has received no chunk to leave after; the loop {run.outcome}")
    return run


def _plays_a_call(scenario: Scenario) -> None:
    """Text, and a call behind it once the caller has left, if it ever does."""
    gone = Gate("the caller has left", lambda event: isinstance(event, Ended), patience=2.0, if_ever=True)
    scenario.plays(Step(calls(CALL, text=FIRST), holds=(Hold(gone, FIRST),)), says("Not asked for."))


@requirement("left-run-starts-no-tool")
def test_nothing_runs_on(scenario: Scenario, implementation: Implementation) -> None:
    """Behind the text the model calls a tool; the caller is gone by then, and nothing runs and asks."""
    _plays_a_call(scenario)

    run = _left(implementation.run(leave_after=AFTER))

    assert [] == run.tools_ran, "a tool has run after the caller had left"
    assert 1 == len(run.requests), "the loop has asked again after the caller had left"


@requirement("left-stream-is-closed")
def test_the_stream_is_closed(scenario: Scenario, implementation: Implementation) -> None:
    """The service sees the connection closed while it still has something to say."""
    closed = Gate("the connection is closed", lambda event: isinstance(event, HungUp))
    scenario.watching = (closed,)
    scenario.plays(Step(says(f"{FIRST}, which is fine."), holds=(Hold(closed, FIRST),)), says("Not asked for."))

    _left(implementation.run(leave_after=AFTER))

    assert closed.wait_here(implementation.bench.patience.gate), "the connection of a stream that was left stays open"


@requirement("next-turn-after-leaving-is-accepted")
def test_the_conversation_goes_on(scenario: Scenario, implementation: Implementation) -> None:
    """The caller leaves before a call, and asks the next question."""
    talk = Talk(implementation)
    _plays_a_call(scenario)
    _left(talk.run("What is the weather?", leave_after=AFTER))
    scenario.plays(says("It is noon."))

    run = talk.run("What time is it?")

    accepted(run.request(1))
    assert "It is noon." == (run.value.text or "").strip()
