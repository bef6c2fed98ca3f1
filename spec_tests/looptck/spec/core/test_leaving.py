"""Leaving a stream: the caller takes some of an answer and goes; nothing runs on for nobody."""

from __future__ import annotations

from looptck.bench.checks import Implementation, on, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.talk import Talk
from looptck.provider.gate import Gate
from looptck.provider.script import Hold, Step
from looptck.spec.conversing import accepted, returned
from looptck.values.transcript import Ended, Event, GaveUp, HungUp, Received, ToolBegan
from looptck.values.turns import Call, calls, says, turn
from looptck.values.verdicts import NotApplicable, NotReached

CALL = Call.of("weather", {"city": "Paris"})
FIRST = "I look at the weather"
BEHIND = ". Zurich comes next."
"""Text behind a call; its second word begins with a letter that is nowhere else in the turn."""
AFTER = 1


def _left(run: Run, after: int = AFTER) -> tuple[list[Event], list[Event]]:
    """The events of a run until its caller left, and those behind. NotReached if there was no chunk to leave after."""
    if len(run.chunks) < after:
        received = f"{len(run.chunks)} chunks" if run.chunks else "no chunk"
        raise NotReached(f"the caller has received {received}, to leave after {after}; the loop {run.outcome}")
    events = run.transcript.events
    place = events.index(run.chunks[after - 1])
    return events[:place], events[place + 1 :]


def _plays_a_call(scenario: Scenario) -> None:
    """Text, and a call behind it once the caller has left, if it ever does."""
    gone = Gate("the caller has left", lambda event: isinstance(event, Ended), patience=2.0, if_ever=True)
    scenario.plays(Step(calls(CALL, text=FIRST), holds=(Hold(gone, FIRST),)), says("Not asked for."))


@requirement("left-run-starts-no-tool")
def test_nothing_runs_on(scenario: Scenario, implementation: Implementation) -> None:
    """Behind the text the model calls a tool; the caller is gone by then, and nothing runs and asks."""
    _plays_a_call(scenario)

    before, behind = _left(implementation.run(leave_after=AFTER))

    if any(isinstance(event, ToolBegan) for event in before):
        raise NotApplicable("the loop hands on the text beside a call when the tool has begun, so nothing is left")
    assert not any(isinstance(event, ToolBegan) for event in behind), "a tool has run after the caller had left"
    asked = any(isinstance(event, Received) for event in behind)
    assert not asked, "the loop has asked again after the caller had left"


@requirement("left-stream-is-closed")
def test_the_stream_is_closed(scenario: Scenario, implementation: Implementation) -> None:
    """The service sees the connection closed while it still has something to say."""
    closed = Gate("the connection is closed", lambda event: isinstance(event, HungUp))
    scenario.watching = (closed,)
    scenario.plays(Step(says(f"{FIRST}, which is fine."), holds=(Hold(closed, FIRST),)), says("Not asked for."))

    before, _ = _left(implementation.run(leave_after=AFTER))

    if any(isinstance(event, GaveUp) for event in before):
        raise NotApplicable("the loop hands on its first text when the service has ended, so no stream is left")
    assert closed.wait_here(implementation.bench.patience.gate), (
        "the connection of a stream that was left stays open; some clients close it only with their response"
    )


@requirement("next-turn-after-leaving-is-accepted")
def test_the_conversation_goes_on(scenario: Scenario, implementation: Implementation) -> None:
    """The caller leaves before a call, and asks the next question."""
    talk = Talk(implementation)
    _plays_a_call(scenario)
    _left(talk.run("What is the weather?", leave_after=AFTER))
    scenario.plays(says("It is noon."))

    run = talk.run("What time is it?")

    accepted(run.request(1))
    returned(run, "It is noon.")


@requirement("next-turn-after-leaving-is-accepted")
@on("openai-responses", "anthropic-messages")
def test_it_goes_on_behind_a_call(scenario: Scenario, implementation: Implementation) -> None:
    """The caller leaves in text behind a whole call, which never runs, and asks the next question."""
    cut = turn(FIRST, CALL, BEHIND)
    scenario.plays(cut, says("It is fine."))
    after = _chunks_until("Z", implementation.run())
    talk = Talk(implementation)
    gone = Gate("the caller has left", lambda event: isinstance(event, Ended), patience=2.0, if_ever=True)
    scenario.plays(Step(cut, holds=(Hold(gone, BEHIND),)), says("Not asked for."))
    _left(talk.run("What is the weather?", leave_after=after), after)
    scenario.plays(says("It is noon."))

    run = talk.run("What time is it?")

    accepted(run.request(1))
    returned(run, "It is noon.")


def _chunks_until(letter: str, run: Run) -> int:
    """How many chunks the caller of a whole run received until this letter. NotApplicable if it never did."""
    run.delivered(2)
    count = next((number for number, chunk in enumerate(run.chunks, 1) if letter in chunk.text), None)
    if count is None:
        raise NotApplicable("the loop hands on no text behind a call")
    return count
