"""Profile ``anthropic-loop``: how a stream is read, and what must wait for the end of the stream."""

from __future__ import annotations

import json

import pytest
from hypothesis import strategies as st

from looptck.bench.assertions.caller import shows_failure
from looptck.bench.assertions.tool_runs import tools_ran
from looptck.bench.assertions.turns import calls_echoed
from looptck.bench.checks import Implementation, control, requirement
from looptck.bench.scenario import Scenario
from looptck.provider import gates
from looptck.provider.faults import Cut, ErrorEvent, Fault, NoFinish
from looptck.provider.script import Hold, Step
from looptck.spec import strategies
from looptck.values.framing import DEFAULT, PRESETS, Framing
from looptck.values.turns import Call, Thinking, Turn, calls, says, turn
from looptck.values.verdicts import NotApplicable, NotReached
from looptck.wires import WIRES

PARIS = {"city": "Paris"}
WEATHER = calls(Call.of("weather", PARIS))
RAN = [("weather", PARIS)]
WHOLE = DEFAULT.but(fragment=0)
FULL = turn(
    Thinking("First the weather."),
    "I look.",
    Call("forecast", '{"city": "Z\\u00fcrich \\\\ \\"東京\\"", "days": [1, -25], "note": ""}'),
    Call("add", '{"a": -2.5e3, "b": 0}'),
    Call.of("ping"),
    Call.of("note", {"text": "a longer text, in pieces"}),
)
"""A turn with every kind of block that is streamed in deltas."""
NO_END = NoFinish(done=False)


def _runs(implementation: Implementation, turn: Turn, framing: Framing) -> None:
    """Assert that a turn in this framing runs its calls with their inputs, and is echoed."""
    implementation.scenario.plays(Step(turn, framing), says("Done."))

    run = implementation.run(agent="clerk")

    tools_ran(run, [{call.tool: json.loads(call.arguments.strip() or "{}")} for call in turn.calls])
    calls_echoed(run, 1)


@requirement("claude-input-is-accumulated")
@pytest.mark.parametrize("fragment", [0, 1, 2, 5])
@pytest.mark.parametrize("escaped", [False, True], ids=["utf-8", "escaped"])
def test_accumulated(implementation: Implementation, fragment: int, escaped: bool) -> None:
    """The inputs arrive in pieces that cut numbers, words, characters and escapes."""
    _runs(implementation, FULL, DEFAULT.but(fragment=fragment, escaped=escaped))


@requirement("claude-input-is-accumulated-by-index")
@pytest.mark.parametrize("fragment", [1, 4])
def test_interleaved(implementation: Implementation, fragment: int) -> None:
    """Four blocks are open at once, and only the indexes assign deltas to blocks."""
    _runs(implementation, FULL, DEFAULT.but(fragment=fragment, interleaved=True))


@requirement("claude-input-is-accumulated-by-index")
def test_any_interleaved(implementation: Implementation) -> None:
    """Any turn with calls, its blocks interleaved in pieces of any size, runs its calls."""

    @implementation.every(strategies.turns_with_calls(strategies.CLERK), st.integers(1, 7))
    def holds(turn: Turn, fragment: int) -> None:
        _runs(implementation, turn, DEFAULT.but(fragment=fragment, interleaved=True))


@requirement("claude-empty-input-is-an-object")
@pytest.mark.parametrize("written", ["", "{}", " {} "], ids=["empty", "object", "blanks"])
@pytest.mark.parametrize("framing", ["natural", "no-empty-arguments", "empty-deltas", "interleaved-calls"])
def test_empty_input(implementation: Implementation, written: str, framing: str) -> None:
    """A call without arguments comes between two calls with arguments, in every encoding of empty input."""
    noted = [Call.of("note", {"text": text}) for text in ("one", "two")]
    _runs(implementation, calls(noted[0], Call("ping", written), noted[1]), PRESETS[framing])


@requirement("claude-pings-and-unknown-events-are-skipped")
@pytest.mark.parametrize("framing", ["pings", "unknown-events"])
def test_skipped_events(implementation: Implementation, framing: str) -> None:
    """Events to be skipped appear wherever they are allowed, inside blocks too."""
    _runs(implementation, FULL, PRESETS[framing])


def _held(scenario: Scenario, implementation: Implementation, after: int | None) -> None:
    """The stream stops for a while at this place; the tool runs, and only after the stream continues."""
    early = gates.tool_begins_too_early("weather")
    scenario.plays(Step(WEATHER, DEFAULT.but(fragment=1), holds=(Hold(early, after),)), says("Done."))

    run = implementation.run()

    run.delivered(1)
    if not run.tools_ran:
        raise NotReached(f"the tool never ran; the loop {run.outcome}")
    assert [early.name] == run.gave_up, "the tool started while the model was still writing"
    assert RAN == run.tools_ran


@requirement("claude-no-input-is-parsed-in-pieces")
@pytest.mark.parametrize("missing", [1, 3, 9], ids=["brace", "quotes", "value"])
def test_nothing_on_half_an_input(scenario: Scenario, implementation: Implementation, missing: int) -> None:
    """All of the input has arrived except its last characters, which a lenient parser could do without."""
    events = WIRES[implementation.cell.wire].events(WEATHER.numbered(1), 1, DEFAULT.but(fragment=1))
    deltas = [place for place, event in enumerate(events) if "partial_json" in json.dumps(event)]
    _held(scenario, implementation, deltas[-missing])


def _not_eager(implementation: Implementation) -> None:
    if implementation.started.can("eager"):
        raise NotApplicable("the driver declares that the loop starts calls early")


@requirement("claude-nothing-runs-before-the-stop-reason")
def test_nothing_before_the_stop_reason(scenario: Scenario, implementation: Implementation) -> None:
    """The provider has sent the whole call, and for a while does not send the stop reason."""
    _not_eager(implementation)
    _held(scenario, implementation, None)


def _runs_nothing(scenario: Scenario, implementation: Implementation, step: Step) -> None:
    """A lost turn runs nothing; if it is requested again and arrives whole, its tool runs once."""
    _not_eager(implementation)
    scenario.plays(WEATHER, says("Warm."))
    control(implementation.run(), "weather")
    scenario.plays(step, WEATHER, says("Warm."))

    run = implementation.run()

    run.replied(1)
    assert (RAN if 2 in run.turns else []) == run.tools_ran


@requirement("claude-error-event-runs-nothing")
@pytest.mark.parametrize("after", [None, 3, 5], ids=["whole-call", "empty-input", "half-a-call"])
def test_error_event_runs_nothing(scenario: Scenario, implementation: Implementation, after: int | None) -> None:
    """The error comes after the whole call, or in the middle of it."""
    framing = WHOLE if after is None else DEFAULT.but(fragment=3)
    _runs_nothing(scenario, implementation, Step(WEATHER, framing, fault=ErrorEvent(after)))


@requirement("claude-cut-stream-runs-nothing")
@pytest.mark.parametrize("fault", [NO_END, Cut(0.5), Cut(0.8)], ids=["no-end", "half", "most"])
def test_cut_stream_runs_nothing(scenario: Scenario, implementation: Implementation, fault: Fault) -> None:
    """The stream ends after the whole call, or breaks off before its end."""
    _runs_nothing(scenario, implementation, Step(WEATHER, WHOLE, fault=fault))


@requirement("claude-lost-turn-is-told")
@pytest.mark.parametrize(
    "fault", [ErrorEvent(), ErrorEvent(5), NO_END, Cut(0.6)], ids=["error-at-the-end", "error", "no-end", "cut"]
)
@pytest.mark.parametrize("lost", [says("It is warm in Paris, and dry."), WEATHER], ids=["answer", "call"])
def test_lost_turn_is_told(scenario: Scenario, implementation: Implementation, fault: Fault, lost: Turn) -> None:
    """The loop does not treat the received part of an answer or a call as the whole turn."""
    scenario.plays(Step(lost, fault=fault), says("Once more: it is warm."))

    run = implementation.run()

    run.replied(1)
    once_more = [received.request.items for received in run.requests[:2]]
    again = len(once_more) == 2 and once_more[0] == once_more[1]
    assert shows_failure(run) or again, f"the loop {run.outcome}, as if nothing had been lost"


@requirement("claude-eager-calls-run-at-most-once")
@pytest.mark.parametrize("again", ["toolu_1", "toolu_2"], ids=["same-id", "new-id"])
@pytest.mark.parametrize("fault", [ErrorEvent(), NO_END], ids=["error", "no-end"])
def test_at_most_once_if_lost(scenario: Scenario, implementation: Implementation, fault: Fault, again: str) -> None:
    """The call has begun when its turn is lost; if the turn is requested again, the same call comes again."""
    _at_most_once(scenario, implementation, fault, calls(Call.of("weather", PARIS, id=again)), says("Warm."))


@requirement("claude-eager-calls-run-at-most-once")
def test_at_most_once(scenario: Scenario, implementation: Implementation) -> None:
    """The call has begun before the turn says that it is to run."""
    _at_most_once(scenario, implementation, None, says("Warm."))


def _at_most_once(scenario: Scenario, implementation: Implementation, fault: Fault | None, *then: Turn) -> None:
    """A turn that ends only once its call has begun, and the rest of the script.

    Text follows the call, because some loops start a call as soon as the model has moved on to something else.
    """
    first = turn(Call.of("weather", PARIS, id="toolu_1"), "I wait.", stop="calls")
    wire = WIRES[implementation.cell.wire]
    whole_call = len(wire.without_finish(wire.events(first, 1, WHOLE)))
    scenario.plays(Step(first, WHOLE, fault, (Hold(gates.tool_began("weather"), whole_call),)), *then)

    run = implementation.run()

    run.replied(1)
    if run.gave_up:
        raise NotReached("the driver declares that the loop starts calls early, but this call was not started")
    assert RAN == run.tools_ran, "the tool ran again for a call that had already been started"
