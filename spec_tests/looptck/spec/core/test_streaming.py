"""Streaming: what reaches the caller while the model still writes, and what must wait for the end of the turn."""

from __future__ import annotations

from dataclasses import replace

import pytest

from looptck.bench.assertions.caller import shows_failure
from looptck.bench.assertions.tool_runs import same_runs
from looptck.bench.checks import Implementation, control, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.provider import gates
from looptck.provider.faults import ErrorEvent, Malformed, NoFinish
from looptck.provider.script import Hold, Step
from looptck.spec import strategies
from looptck.values.framing import DEFAULT
from looptck.values.turns import Call, Turn, calls, says
from looptck.values.verdicts import NotApplicable, NotReached

WEATHER = calls(Call.of("weather", {"city": "Paris"}))
PING, UNWRITTEN = calls(Call.of("ping")), calls(Call("ping", ""))
"""A call without arguments, and the same where not even their braces have come."""
SLOW = DEFAULT.but(fragment=1)
FIRST = "A first paragraph.\n\n"
SIGNS = "It is 18 °C — über alles."
BLANKS = "10 - 10 = 0,  so:\n\n\tit is 0."
BESIDE = "Let me look at the thermometer."
OPEN = "It is warm. The wind comes from the west"
"""An answer after whose last words neither a sign nor a line end comes."""


@requirement("final-text-arrives-as-it-is-written")
def test_text_arrives_while_it_is_written(scenario: Scenario, implementation: Implementation) -> None:
    """The provider sends the rest of the answer once the caller has its beginning.

    A loop may hand on whole words, sentences or paragraphs.
    """
    held = Hold(gates.caller_has("A"), after=f"{FIRST}A long st")
    scenario.plays(WEATHER, Step(says(f"{FIRST}A long story."), SLOW, holds=(held,)))

    run = implementation.run()

    run.delivered(2)
    assert [] == run.gave_up, "the caller received nothing while the answer was being written"


@requirement("chunks-join-to-the-answer")
@pytest.mark.parametrize("text", [SIGNS, BLANKS, OPEN], ids=["signs", "blanks", "open-end"])
def test_chunks_join(scenario: Scenario, implementation: Implementation, text: str) -> None:
    """The joined chunks end with the final text and contain it once; some deltas are one blank, line end or zero.

    A loop that hands on whole sentences hands on the last one too, also if no sign ends it.
    """
    scenario.plays(WEATHER, Step(says(text), SLOW))

    run = implementation.run()

    run.delivered(2)
    joined = "".join(chunk.text for chunk in run.chunks)
    assert text == run.value.text, f"the loop returned {run.value.text!r}, not {text!r}"
    assert joined.endswith(text), f"the pieces join to {joined!r}, not to the answer {text!r}"
    times = joined.count(text[:8])
    assert 1 == times, f"the caller received the answer {times} times: {joined!r}"


@requirement("chunks-join-to-the-answer")
def test_each_piece_is_a_text(scenario: Scenario, implementation: Implementation) -> None:
    """Deltas of a turn without text have null for it, or no member at all, and the caller is handed no such piece."""
    scenario.plays(WEATHER, Step(says(SIGNS), SLOW))

    run = implementation.run()

    run.delivered(2)
    absent = sum(chunk.absent for chunk in run.chunks)
    assert not absent, f"of {len(run.chunks)} pieces that the caller got {absent} are null, and no text"


@requirement("text-beside-calls-is-handed-on-once")
def test_text_beside_a_call(scenario: Scenario, implementation: Implementation) -> None:
    """A turn has a text and a call: the caller gets the text while it is written, or later, or not at all."""
    scenario.plays(Step(calls(Call.of("weather", {"city": "Paris"}), text=BESIDE), SLOW), says(SIGNS))

    run = implementation.run()

    run.delivered(1)
    joined = "".join(chunk.text for chunk in run.chunks)
    times = joined.count(BESIDE[:16])
    if not times:
        raise NotApplicable("the loop hands on no text of a turn with calls")
    assert 1 == times, f"the caller received the text beside a call {times} times: {joined!r}"


@requirement("plain-and-stream-agree")
def test_plain_and_stream(scenario: Scenario, implementation: Implementation) -> None:
    """Any conversation, played plain and streamed, leads to the same tool runs and the same requests."""

    @implementation.every(strategies.conversations(), first={"turns": strategies.EVENTFUL})
    def holds(turns: list[Turn]) -> None:
        scenario.plays(*turns, says("Done."))
        plain = implementation.run(cell=replace(implementation.cell, stream=False))
        streamed = implementation.run()

        for run in (plain, streamed):
            run.delivered(1)
            run.request(min(2, len(turns) + 1))
        assert plain.rounds == streamed.rounds
        assert _messages(plain) == _messages(streamed)
        assert _answer(plain) == _answer(streamed)


@requirement("plain-and-stream-agree")
@pytest.mark.parametrize("call", [Call.of("teleport"), Call.of("ping")], ids=["unknown-tool", "raising-tool"])
def test_plain_and_stream_fail_alike(scenario: Scenario, implementation: Implementation, call: Call) -> None:
    """A call that fails is answered, or ends the run, in both; the words of its error are not compared."""
    scenario.plays(calls(Call.of("note", {"text": "first"})), calls(call), says("Done."))
    scenario.raises("ping", "no reply")
    plain = implementation.run(cell=replace(implementation.cell, stream=False))
    streamed = implementation.run()

    for run in (plain, streamed):
        run.delivered(2)
    ways = [f"{run.outcome} after {len(run.requests)} requests" for run in (plain, streamed)]
    assert plain.rounds == streamed.rounds
    assert (plain.failed, len(plain.requests)) == (streamed.failed, len(streamed.requests)), (
        f"a call fails, and the loop {ways[0]} if the reply is plain, and {ways[1]} if it is a stream"
    )


def _answer(run: Run) -> str | None:
    """The text that the caller got; None if the loop failed."""
    return None if run.failed else run.value.text


def _messages(run: Run) -> list[object]:
    return [run.comparable_history(received.n) for received in run.requests]


@requirement("calls-run-after-the-stream-ends")
def test_nothing_runs_early(scenario: Scenario, implementation: Implementation) -> None:
    """The provider has sent the whole call, and for a while does not send the stop reason."""
    if implementation.started.can("eager"):
        raise NotApplicable("the driver declares that the loop starts calls early")
    early = gates.tool_begins_too_early("note")
    call = calls(Call.of("note", {"text": "a longer text"}))
    scenario.plays(Step(call, SLOW, holds=(Hold(early, after=None),)), says("Done."))

    run = implementation.run()

    run.delivered(1)
    if not run.tools_ran:
        raise NotReached(f"the tool never ran; the loop {run.outcome}")
    assert [early.name] == run.gave_up, "the tool started while the model was still writing"


def _control_of(scenario: Scenario, implementation: Implementation, turn: Turn = WEATHER) -> None:
    """The same turn without its fault runs its tool; otherwise the check would test nothing."""
    scenario.plays(turn, says("Warm."))
    control(implementation.run(), turn.calls[0].tool)


def _lost_turn(scenario: Scenario, implementation: Implementation, step: Step) -> Run:
    """A turn that is lost; if it is requested again, it arrives whole."""
    scenario.plays(step, WEATHER, says("Warm."))
    run = implementation.run()
    run.replied(1)
    return run


def _runs_nothing(scenario: Scenario, implementation: Implementation, step: Step, whole: Turn = WEATHER) -> None:
    _control_of(scenario, implementation, whole)
    run = _lost_turn(scenario, implementation, step)
    again = len(run.requests) > 1 and 2 in run.turns

    same_runs([("weather", {"city": "Paris"})] if again else [], run.tools_ran, "the first turn did not come whole")


def _is_reported(scenario: Scenario, implementation: Implementation, step: Step) -> None:
    run = _lost_turn(scenario, implementation, step)

    assert shows_failure(run) or len(run.requests) > 1, f"the loop {run.outcome}, as if nothing had been lost"


@requirement("stream-without-finish-runs-nothing")
def test_no_finish_runs_nothing(scenario: Scenario, implementation: Implementation) -> None:
    """A call with complete arguments does not run if the stream has no finish reason."""
    _runs_nothing(scenario, implementation, Step(WEATHER, fault=NoFinish(done=False)))


@requirement("stream-without-finish-runs-nothing")
def test_no_finish_behind_a_name(scenario: Scenario, implementation: Implementation) -> None:
    """A call does not run without arguments if the stream ends before any have come, and has no finish reason."""
    _runs_nothing(scenario, implementation, Step(UNWRITTEN, fault=NoFinish(done=False)), whole=PING)


@requirement("stream-without-finish-is-told")
def test_no_finish_is_told(scenario: Scenario, implementation: Implementation) -> None:
    """Half an answer is not returned as a complete one."""
    _is_reported(scenario, implementation, Step(says("The capital of France is"), fault=NoFinish(done=False)))


@requirement("unstopped-block-never-runs")
def test_block_without_its_end(scenario: Scenario, implementation: Implementation) -> None:
    """The token limit cuts a call whose block is never closed; the loop neither waits for the end nor runs the call."""
    cut = calls(Call("weather", '{"city": "Par'), stop="length")
    _runs_nothing(scenario, implementation, Step(cut, DEFAULT.but(quirk="block-not-stopped")))


@requirement("error-event-runs-nothing")
def test_error_event_runs_nothing(scenario: Scenario, implementation: Implementation) -> None:
    """An error comes after complete arguments, before the finish reason."""
    _runs_nothing(scenario, implementation, Step(WEATHER, fault=ErrorEvent()))


@requirement("error-event-is-told")
def test_error_event_is_told(scenario: Scenario, implementation: Implementation) -> None:
    """An error comes in the middle of the text."""
    _is_reported(
        scenario, implementation, Step(says("The capital of France is Paris."), SLOW, fault=ErrorEvent(after=9))
    )


@requirement("malformed-event-is-told")
def test_malformed_event_is_told(scenario: Scenario, implementation: Implementation) -> None:
    """An event in the middle of the text is cut JSON."""
    _is_reported(scenario, implementation, Step(says("The capital of France is Paris."), SLOW, fault=Malformed(at=9)))
