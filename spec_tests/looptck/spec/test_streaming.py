"""Streaming: what reaches the caller while the model still writes, and what must wait until it has written."""

from __future__ import annotations

from dataclasses import replace

from looptck.checks import Implementation, control, requirement
from looptck.expectations import told
from looptck.framing import NATURAL
from looptck.kit import Scene
from looptck.provider import gates
from looptck.provider.faults import ErrorEvent, Malformed, NoFinish
from looptck.provider.script import Hold, Step
from looptck.run import Run
from looptck.spec import strategies
from looptck.turns import Call, Turn, calls, says
from looptck.verdicts import NotApplicable, NotReached

WEATHER = calls(Call.of("weather", {"city": "Paris"}))
SLOW = NATURAL.but(fragment=1)


@requirement("final-text-arrives-as-it-is-written")
def test_text_arrives_while_it_is_written(provider: Scene, implementation: Implementation) -> None:
    """The provider writes the rest of the answer only once the caller has its beginning."""
    caller = gates.caller_has("A long")
    provider.plays(WEATHER, Step(says("A long story."), SLOW, holds=(Hold(caller, after="A long"),)))

    run = implementation.run()

    run.delivered(2)
    assert [] == run.gave_up, "the caller received nothing while the answer was being written"


@requirement("chunks-join-to-the-answer")
def test_chunks_join(provider: Scene, implementation: Implementation) -> None:
    """The chunks, joined, end with the final text and hold it once."""
    provider.plays(WEATHER, Step(says("It is 18 °C — über alles."), NATURAL.but(fragment=2)))

    run = implementation.run()

    run.delivered(2)
    assert "It is 18 °C — über alles." == run.value.text
    joined = "".join(chunk.text for chunk in run.chunks)
    assert joined.endswith("It is 18 °C — über alles.")
    assert 1 == joined.count("18 °C")


@requirement("plain-and-stream-agree")
def test_plain_and_stream(provider: Scene, implementation: Implementation) -> None:
    """Any conversation, played plain and streamed, leads to the same tool runs and the same requests."""

    @implementation.every(strategies.conversations(), first={"turns": strategies.EVENTFUL})
    def holds(turns: list[Turn]) -> None:
        provider.plays(*turns, says("Done."))
        plain = implementation.run(cell=replace(implementation.cell, stream=False))
        streamed = implementation.run()

        for run in (plain, streamed):
            run.delivered(1)
            run.request(min(2, len(turns) + 1))
        assert plain.rounds == streamed.rounds
        assert _messages(plain) == _messages(streamed)
        assert _answer(plain) == _answer(streamed)


def _answer(run: Run) -> str | None:
    """The text that the caller got; None where the loop failed."""
    return None if run.failed else run.value.text


def _messages(run: Run) -> list[object]:
    return [run.retold(received.n) for received in run.requests]


@requirement("calls-run-after-the-stream-ends")
def test_nothing_runs_early(provider: Scene, implementation: Implementation) -> None:
    """The provider has told all of the call, and then says for a while nothing of why the model stopped."""
    if implementation.started.can("eager"):
        raise NotApplicable("the driver declares that the loop starts calls early")
    early = gates.tool_begins_too_early("note")
    call = calls(Call.of("note", {"text": "a longer text"}))
    provider.plays(Step(call, SLOW, holds=(Hold(early, after=None),)), says("Done."))

    run = implementation.run()

    run.delivered(1)
    if not run.tools_ran:
        raise NotReached(f"the tool never ran; the loop {run.outcome}")
    assert [early.name] == run.gave_up, "the tool started while the model was still writing"


def _control_of(provider: Scene, implementation: Implementation) -> None:
    """The same turn without its fault runs its tool, or the check would test nothing."""
    provider.plays(WEATHER, says("Warm."))
    control(implementation.run(), "weather")


def _lost_turn(provider: Scene, implementation: Implementation, step: Step) -> Run:
    """A turn that is lost; if it is asked for again, it comes whole."""
    provider.plays(step, WEATHER, says("Warm."))
    run = implementation.run()
    run.replied(1)
    return run


def _runs_nothing(provider: Scene, implementation: Implementation, step: Step) -> None:
    _control_of(provider, implementation)
    run = _lost_turn(provider, implementation, step)
    again = len(run.requests) > 1 and 2 in run.turns

    assert ([("weather", {"city": "Paris"})] if again else []) == run.tools_ran


def _is_told(provider: Scene, implementation: Implementation, step: Step) -> None:
    run = _lost_turn(provider, implementation, step)

    assert told(run) or len(run.requests) > 1, f"the loop {run.outcome}, as if nothing had been lost"


@requirement("stream-without-finish-runs-nothing")
def test_no_finish_runs_nothing(provider: Scene, implementation: Implementation) -> None:
    """A call whose arguments are whole does not run if the stream never said why it ended."""
    _runs_nothing(provider, implementation, Step(WEATHER, fault=NoFinish(done=False)))


@requirement("stream-without-finish-is-told")
def test_no_finish_is_told(provider: Scene, implementation: Implementation) -> None:
    """Half an answer is not returned as a whole one."""
    _is_told(provider, implementation, Step(says("The capital of France is"), fault=NoFinish(done=False)))


@requirement("unstopped-block-never-runs")
def test_block_without_its_end(provider: Scene, implementation: Implementation) -> None:
    """The token limit cuts a call whose block is never stopped; the loop does not wait for it, and does not run it."""
    cut = calls(Call("weather", '{"city": "Par'), stop="length")
    _runs_nothing(provider, implementation, Step(cut, NATURAL.but(quirk="block-not-stopped")))


@requirement("error-event-runs-nothing")
def test_error_event_runs_nothing(provider: Scene, implementation: Implementation) -> None:
    """An error that comes after whole arguments, before the finish reason."""
    _runs_nothing(provider, implementation, Step(WEATHER, fault=ErrorEvent()))


@requirement("error-event-is-told")
def test_error_event_is_told(provider: Scene, implementation: Implementation) -> None:
    """An error in the middle of the text."""
    _is_told(provider, implementation, Step(says("The capital of France is Paris."), SLOW, fault=ErrorEvent(after=9)))


@requirement("malformed-event-is-told")
def test_malformed_event_is_told(provider: Scene, implementation: Implementation) -> None:
    """An event in the middle of the text is cut JSON."""
    _is_told(provider, implementation, Step(says("The capital of France is Paris."), SLOW, fault=Malformed(at=9)))
