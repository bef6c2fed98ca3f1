"""Framing: a turn stays the same turn, however it is cut into events. Lines are in ``test_lines``."""

from __future__ import annotations

import pytest

from looptck.bench.assertions.results import error_is_told
from looptck.bench.assertions.tool_runs import tools_ran
from looptck.bench.assertions.turns import calls_echoed
from looptck.bench.checks import Implementation, framed, on, refusable, requirement
from looptck.bench.scenario import Scenario
from looptck.provider.script import Step
from looptck.spec import strategies
from looptck.spec.framed_turns import ANSWER, FORECAST, ONE_CALL, TWO_CALLS, played, runs_its_calls
from looptck.values.framing import DEFAULT, PRESETS, Framing
from looptck.values.turns import Call, Piece, Text, Thinking, Turn, calls, says
from looptck.wires import WIRES

RARE = {"byte-order-mark", "cr", "data-lines", "no-done", "opening-chunk"}
"""Framings that no wire's own service uses, or that break with its words. Each has its own requirement, a SHOULD."""
INTERLEAVING = {"openai-chat"}
"""The wires whose service interleaves the deltas of several calls; on other wires that is a SHOULD."""


def _means_the_same(implementation: Implementation, framing: Framing, turn: Turn) -> None:
    """Assert that this framing leads to the same run as the default framing, whatever the right run is."""
    natural = played(implementation, DEFAULT, turn)
    natural.request(2)
    assert natural.value.text is not None
    run = played(implementation, framing, turn)

    run.delivered(1)
    assert natural.rounds == run.rounds
    assert natural.comparable_history(2) == run.comparable_history(2)
    assert natural.ending == run.ending


@requirement("fragmented-arguments-are-joined")
def test_one_character_at_a_time(implementation: Implementation) -> None:
    """Every delta holds a single character of the arguments."""
    runs_its_calls(implementation, PRESETS["one-character-deltas"])


@requirement("long-events-are-read")
@pytest.mark.parametrize("where", ["arguments", "answer"])
def test_long_event(scenario: Scenario, implementation: Implementation, where: str) -> None:
    """One delta has 300,000 characters of the arguments, or of the answer."""
    text = "".join(f"{number:09d} " for number in range(30_000))
    whole = DEFAULT.but(fragment=0)
    note, answer = (text, "Noted.") if where == "arguments" else ("x", text)
    scenario.plays(Step(calls(Call.of("note", {"text": note})), whole), Step(says(answer), whole))

    run = implementation.run()

    run.delivered(1)
    assert not run.failed, f"an event has {len(text)} characters, and the loop {run.outcome}"
    tools_ran(run, [{"note": {"text": note}}])
    run.delivered(2)
    assert answer.strip() == (run.value.text or "").strip()


@requirement("interleaved-calls-stay-apart")
def test_interleaved_calls(implementation: Implementation) -> None:
    """The deltas of two calls alternate."""
    runs_its_calls(implementation, PRESETS["interleaved-calls"], TWO_CALLS)


@requirement("interleaved-blocks-stay-apart")
def test_interleaved_blocks(implementation: Implementation) -> None:
    """Two calls are open at once, and their deltas alternate; only the indexes assign deltas to calls."""
    runs_its_calls(implementation, PRESETS["interleaved-calls"], TWO_CALLS)


@requirement("calls-in-one-delta-all-run")
def test_all_in_one_delta(implementation: Implementation) -> None:
    """One delta holds both calls completely."""
    runs_its_calls(implementation, PRESETS["calls-in-one-delta"], TWO_CALLS)


@requirement("first-delta-names-the-call")
@pytest.mark.parametrize("framing", ["natural", "whole-arguments"])
def test_first_delta_alone_has_id_and_name(implementation: Implementation, framing: str) -> None:
    """Id and name come once, with empty arguments; the arguments come in later deltas."""
    runs_its_calls(implementation, PRESETS[framing])


@requirement("empty-deltas-change-nothing")
def test_empty_deltas(implementation: Implementation) -> None:
    """An empty delta follows every delta."""
    runs_its_calls(implementation, PRESETS["empty-deltas"])


CHOICELESS = {
    "last": DEFAULT.but(usage=True),
    "both": DEFAULT.but(usage=True, opening=True),
    "first": DEFAULT.but(usage=False, opening=True),
}


@requirement("chunks-without-choices-are-skipped")
@pytest.mark.parametrize("framing", CHOICELESS.values(), ids=CHOICELESS)
def test_chunks_without_choices(implementation: Implementation, framing: Framing) -> None:
    """Chunks whose list of choices is empty, at the start or at the end."""
    runs_its_calls(implementation, framing)


@requirement("missing-end-marker-is-tolerated")
@pytest.mark.parametrize("usage", [True, False])
def test_no_end_marker(implementation: Implementation, usage: bool) -> None:
    """The stream ends after its finish reason, or after the usage that was asked for, without the end marker."""
    runs_its_calls(implementation, PRESETS["no-done"] if usage else PRESETS["no-done"].but(usage=False))


@requirement("unknown-fields-are-ignored")
def test_unknown_fields(implementation: Implementation) -> None:
    """Every object has unknown fields."""
    runs_its_calls(implementation, PRESETS["unknown-fields"])


@requirement("padding-changes-nothing")
def test_padding(implementation: Implementation) -> None:
    """Spaces precede the closing brace of each event."""
    runs_its_calls(implementation, PRESETS["padded"])


@requirement("pings-are-skipped")
def test_pings(implementation: Implementation) -> None:
    """A ping comes at every place, before the first event and inside a block too."""
    runs_its_calls(implementation, PRESETS["pings"], TWO_CALLS)


@requirement("unknown-events-are-skipped")
def test_unknown_events(implementation: Implementation) -> None:
    """Events of an undocumented type come between all others."""
    runs_its_calls(implementation, PRESETS["unknown-events"], TWO_CALLS)


@requirement("last-message-delta-decides")
def test_split_end(implementation: Implementation) -> None:
    """The usage comes in a separate message_delta, before the one with the stop reason."""
    runs_its_calls(implementation, PRESETS["split-end"])


@requirement("no-argument-delta-is-an-empty-object")
def test_no_argument_delta(implementation: Implementation) -> None:
    """A call without arguments has no delta at all."""
    runs_its_calls(implementation, PRESETS["no-empty-arguments"], calls(Call.of("ping")))


@requirement("input-at-start-is-kept")
def test_input_at_start(implementation: Implementation) -> None:
    """The start of the block contains the whole input, and no delta follows."""
    runs_its_calls(implementation, DEFAULT.but(quirk="input-at-start"), TWO_CALLS)


AT_START = DEFAULT.but(quirk="text-at-start")


@requirement("text-at-start-is-kept")
@refusable("Thinking loses its beginning only with servers whose blocks begin with some, and these accept it.")
@pytest.mark.parametrize(
    "pieces", [(Text("I look that up."),), (Thinking("The user wants the weather."),)], ids=["text", "thinking"]
)
def test_start_of_a_turn(implementation: Implementation, pieces: tuple[Piece, ...]) -> None:
    """The start of a block of text or thinking before a call has the first piece of it."""
    _means_the_same(implementation, AT_START, Turn((*pieces, *ONE_CALL.calls)))


@requirement("text-at-start-is-kept")
def test_start_of_an_answer(scenario: Scenario, implementation: Implementation) -> None:
    """The start of the block of the answer has the first piece of it."""
    scenario.plays(Step(says(ANSWER), AT_START))

    run = implementation.run()

    run.delivered(1)
    assert ANSWER == run.value.text, f"the answer is {ANSWER!r}, and the loop {run.outcome}"


@requirement("repeated-events-change-nothing")
def test_a_repeated_stop(implementation: Implementation) -> None:
    """A gateway sends the stop of each block a second time."""
    runs_its_calls(implementation, DEFAULT.but(quirk="stop-repeated"), TWO_CALLS, broken=True)


@requirement("block-indices-may-have-gaps")
def test_gaps_between_indices(implementation: Implementation) -> None:
    """The blocks of two calls have the indices 1 and 3."""
    runs_its_calls(implementation, DEFAULT.but(quirk="indices-with-gaps"), TWO_CALLS, broken=True)


@requirement("missing-input-at-start-is-tolerated")
def test_no_input_at_start(implementation: Implementation) -> None:
    """The start of the block has no input; its deltas contain it."""
    runs_its_calls(implementation, DEFAULT.but(quirk="no-input-at-start"), TWO_CALLS)


@requirement("event-names-may-be-missing")
def test_unnamed_events(implementation: Implementation) -> None:
    """The events have only data, which contains their type."""
    runs_its_calls(implementation, DEFAULT.but(quirk="unnamed-events"), TWO_CALLS)


@requirement("stray-end-marker-is-skipped")
def test_stray_end_marker(implementation: Implementation) -> None:
    """A gateway has added another wire's end marker after the last event."""
    runs_its_calls(implementation, DEFAULT.but(quirk="end-marker"))


@requirement("stray-end-marker-is-skipped")
@on("openai-responses/stream/*")
def test_an_event_behind_the_end(implementation: Implementation) -> None:
    """An event of an undocumented type comes behind the one that ends the response."""
    runs_its_calls(implementation, DEFAULT.but(quirk="event-behind-the-end"), TWO_CALLS)


WHOLE_ITEMS: dict[str, Framing] = {
    "no-deltas": DEFAULT.but(quirk="no-deltas"),
    "no-arguments-done": DEFAULT.but(quirk="no-arguments-done"),
}


@requirement("whole-items-need-no-deltas")
@pytest.mark.parametrize("framing", WHOLE_ITEMS.values(), ids=WHOLE_ITEMS)
def test_whole_items(implementation: Implementation, framing: Framing) -> None:
    """An item's end event contains the whole item, with or without deltas before it."""
    runs_its_calls(implementation, framing, TWO_CALLS)


@requirement("missing-sequence-is-tolerated")
@refusable("A loop may assign deltas by the index that the vendor always sends, and assemble items wrongly without it.")
def test_no_sequence(implementation: Implementation) -> None:
    """The events have no sequence numbers and no output index."""
    runs_its_calls(implementation, DEFAULT.but(quirk="no-sequence"), TWO_CALLS)


SCATTERED: dict[str, Framing] = {
    "final-output-empty": DEFAULT.but(quirk="final-output-empty"),
    "no-item-done": DEFAULT.but(quirk="no-item-done"),
    "early-id-differs": DEFAULT.but(quirk="early-id-differs"),
    "item-ids-differ": DEFAULT.but(quirk="item-ids-differ"),
}


@requirement("incomplete-telling-loses-no-call")
@pytest.mark.parametrize("framing", SCATTERED.values(), ids=SCATTERED)
def test_incomplete_telling(scenario: Scenario, implementation: Implementation, framing: Framing) -> None:
    """If the events of a stream contradict each other, the calls run as the last events say, or the run fails."""
    scenario.plays(Step(ONE_CALL, framing), says("Done."))

    run = implementation.run(agent="clerk")

    run.delivered(1)
    if run.failed:
        assert [] == run.ran
        return
    tools_ran(run, [{"forecast": FORECAST}])
    calls_echoed(run, 1)


@requirement("repeated-ids-are-one-call")
def test_repeated_ids(implementation: Implementation) -> None:
    """Every delta of a call repeats its id and type."""
    runs_its_calls(implementation, DEFAULT.but(quirk="ids-repeated"))


@requirement("one-index-two-ids-are-two-calls")
def test_one_index(implementation: Implementation) -> None:
    """Two calls with different ids both have the index 0."""
    runs_its_calls(implementation, DEFAULT.but(quirk="one-index"), TWO_CALLS)


@requirement("missing-index-is-one-call")
def test_no_index(implementation: Implementation) -> None:
    """The deltas of a single call have no index."""
    runs_its_calls(implementation, DEFAULT.but(quirk="no-index"))


@requirement("first-index-may-be-one")
def test_index_from_one(implementation: Implementation) -> None:
    """The indexes of the calls start at 1."""
    runs_its_calls(implementation, DEFAULT.but(quirk="index-from-one"), ONE_CALL)


@requirement("name-in-pieces-is-joined")
def test_name_in_pieces(implementation: Implementation) -> None:
    """A tool's name is split over two deltas."""
    runs_its_calls(implementation, DEFAULT.but(quirk="name-in-pieces"))


@requirement("repeated-finish-runs-once")
def test_repeated_finish(implementation: Implementation) -> None:
    """The finish reason comes twice; the tools run once."""
    runs_its_calls(implementation, DEFAULT.but(quirk="finish-repeated"))


@requirement("arguments-as-object-are-not-lost")
@refusable("A loop may send back the form that its server wrote, because that server accepts it.")
def test_arguments_as_object(scenario: Scenario, implementation: Implementation) -> None:
    """Arguments that are an object are used as they are, or are an error for the caller or the model."""
    scenario.plays(
        Step(calls(Call.of("weather", {"city": "Paris"})), DEFAULT.but(quirk="arguments-object")), says("Warm.")
    )

    run = implementation.run()

    run.delivered(1)
    if not run.tools_ran:
        error_is_told(run, {"turn": 1, "holds": "arguments", "or_reads_as_error": True})
        return
    assert [("weather", {"city": "Paris"})] == run.tools_ran, f"ran {run.tools_ran}; it {run.outcome}"


@requirement("null-arguments-are-an-empty-object")
@refusable("A loop may send back the form that its server wrote, because that server accepts it.")
def test_null_arguments(scenario: Scenario, implementation: Implementation) -> None:
    """A call without arguments has null instead of their text; the service accepts an echoed null."""
    scenario.plays(Step(calls(Call.of("ping")), DEFAULT.but(quirk="arguments-null")), says("Pong."))

    run = implementation.run()

    tools_ran(run, [{"ping": {}}], "the call has null for its arguments")


@requirement("null-arguments-are-an-empty-object")
@refusable("A loop may send back the form that its server wrote, because that server accepts it.")
def test_missing_arguments(scenario: Scenario, implementation: Implementation) -> None:
    """A call without arguments has no member for them, neither whole nor in any piece of a stream."""
    scenario.plays(Step(calls(Call("ping", "")), DEFAULT.but(quirk="no-arguments")), says("Pong."))

    run = implementation.run()

    tools_ran(run, [{"ping": {}}], "the call has no member for its arguments")


@requirement("framing-does-not-matter")
def test_any_framing(implementation: Implementation) -> None:
    """Any turn, in any valid framing cut at any bytes, runs the same calls and leads to the same next request."""
    wire = implementation.cell.wire
    layouts = WIRES[wire].layouts - {"done", "opening", "usage"} - (set() if wire in INTERLEAVING else {"interleaved"})

    @implementation.every(strategies.turns_with_thoughts(strategies.FLAT), strategies.known_framings(layouts))
    def holds(turn: Turn, framing: Framing) -> None:
        _means_the_same(implementation, framing, turn)


NAMED = framed({name: PRESETS[name] for name in sorted(PRESETS.keys() - RARE - {"interleaved-calls"})})
NAMED.append(pytest.param(PRESETS["interleaved-calls"], id="interleaved-calls", marks=on(*INTERLEAVING)))


@requirement("framing-does-not-matter")
@pytest.mark.parametrize("framing", NAMED)
def test_named_framings(implementation: Implementation, framing: Framing) -> None:
    """Each named framing of the same turn runs its calls."""
    _means_the_same(implementation, framing, TWO_CALLS)
