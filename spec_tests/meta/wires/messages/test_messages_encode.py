"""What each framing and quirk changes in the streams of the Messages encoder."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from looptck.values.framing import DEFAULT, Framing, Quirk
from looptck.values.turns import Call, Turn, calls, refuses, says, turn
from looptck.wires.anthropic_messages import ANTHROPIC_MESSAGES
from meta.wires.messages.encoded import read_stream
from meta.wires.messages.reader import said
from meta.wires.messages.samples import ANY_FRAMING, ANY_TURN, FRAMINGS, TURNS, WEATHER, meant


def read(turn: Turn, framing: Framing) -> dict[str, Any]:
    """A turn, encoded in a framing and read back."""
    return read_stream(framing.encode(events(turn, framing), named=True))


def events(turn: Turn, framing: Framing) -> list[Any]:
    """The events of a turn, the first of its run."""
    return ANTHROPIC_MESSAGES.events(turn, 1, framing)


@given(ANY_TURN, ANY_FRAMING)
def test_without_finish_only_the_reason_is_gone(turn: Turn, framing: Framing) -> None:
    """A stream without finish says the whole turn, but not why it ended, nor that it is over."""
    numbered = turn.numbered(1)
    known = framing.but(unknown_fields=False)
    kept = ANTHROPIC_MESSAGES.without_finish(events(numbered, known))

    assert meant(numbered, over=False) == said(known.encode(kept, named=True))


@given(ANY_TURN, ANY_FRAMING)
def test_what_is_unknown_is_added(turn: Turn, framing: Framing) -> None:
    """Without the fields and events that nobody knows, a stream is what it would have been."""
    numbered = turn.numbered(1)
    framing = framing.but(pings=False)  # there would be pings beside the unknown events too
    known = events(numbered, framing.but(unknown_fields=False, unknown_events=False))
    strange = events(numbered, framing)

    assert known == [_known(event) for event in strange if not _is_unknown(event)]
    assert framing.unknown_events == any(_is_unknown(event) for event in strange)


def _is_unknown(event: Any) -> bool:
    return "x_unknown" in {event["type"], event.get("delta", {}).get("type", "").removesuffix("_delta")}


def _known(value: Any) -> Any:
    """The value without fields that nobody knows."""
    if isinstance(value, list):
        return [_known(one) for one in value]
    if isinstance(value, dict):
        return {name: _known(one) for name, one in value.items() if name != "x_unknown"}
    return value


def test_unknown_fields_are_everywhere_but_in_inputs() -> None:
    """Body, blocks, events and deltas have a field that nobody knows; the input of a tool is the model's own."""
    framing = FRAMINGS["unknown-fields"]
    body = ANTHROPIC_MESSAGES.body(calls(WEATHER).numbered(1), 1, framing)

    assert "x_unknown" in body
    assert "x_unknown" in body["content"][0]
    assert {"city": "Zürich"} == body["content"][0]["input"]
    for event in events(calls(WEATHER).numbered(1), framing):
        assert "x_unknown" in event
        assert "x_unknown" in event.get("delta", event)


def test_an_unknown_delta_is_inside_a_block() -> None:
    """Between unknown events, one delta of an unknown type stands in the first block."""
    stream = events(calls(WEATHER).numbered(1), FRAMINGS["unknown-events"])

    assert [0] == [event["index"] for event in stream if event.get("delta", {}).get("type") == "x_unknown_delta"]


def kinds(turn: Turn, framing: Framing) -> list[str]:
    """The types of the events of a turn."""
    return [event["type"] for event in events(turn.numbered(1), framing)]


def test_pings_are_everywhere() -> None:
    """A ping stands before every event, the first and the last included."""
    spread = kinds(says("Hi."), FRAMINGS["pings"])

    assert {"ping"} == set(spread[::2])
    assert "ping" not in spread[1::2]
    assert [kind for kind in kinds(says("Hi."), DEFAULT) if kind != "ping"] == spread[1::2]


@pytest.mark.parametrize("turn", [says("Hi."), says(None), calls(WEATHER)])
def test_one_ping_is_the_default(turn: Turn) -> None:
    """The service pings once, after the first block has started; after the message has, where there is no block."""
    stream = kinds(turn, DEFAULT)

    assert 1 == stream.count("ping")
    assert ("content_block_start" if turn.pieces else "message_start") == stream[stream.index("ping") - 1]


def test_calls_take_turns() -> None:
    """With interleaved calls, blocks of adjacent calls are open at once; text between calls keeps them apart."""
    framing = FRAMINGS["interleaved-calls"]
    together = turn(Call.of("a", {"x": 1}), Call.of("b", {"y": 2}), "Then.", Call.of("c", {"z": 3})).numbered(1)
    places = [event["index"] for event in events(together, framing) if event["type"] == "content_block_delta"]

    assert [0, 1, 0, 1, 0, 1, 0, 1, 2] == places[:9]
    assert {3} == set(places[places.index(3) :])


@pytest.mark.parametrize(
    ("arguments", "natural", "without"), [("", [""], []), ("{}", ["", "{}"], []), ("[1]", ["", "[1]"], ["[1]"])]
)
def test_fragments_of_an_input(arguments: str, natural: list[str], without: list[str]) -> None:
    """The first fragment is empty, and may be the only one; where empty arguments have none, it is left out."""
    fragments = [
        [event["delta"]["partial_json"] for event in events(one, framing) if event["type"] == "content_block_delta"]
        for one in [calls(Call("ping", arguments)).numbered(1)]
        for framing in (DEFAULT, FRAMINGS["no-empty-arguments"])
    ]

    assert [natural, without] == fragments


def test_empty_deltas() -> None:
    """With empty deltas, one stands before and after each part of a text."""
    stream = events(says("ab"), DEFAULT.but(fragment=1, empty_deltas=True))

    assert ["", "a", "", "b", ""] == [
        event["delta"]["text"] for event in stream if event["type"] == "content_block_delta"
    ]


def test_the_end_in_two() -> None:
    """With a split end the usage comes without a reason first."""
    stream = events(says("Hi."), FRAMINGS["split-end"])

    assert [None, "end_turn"] == [event["delta"]["stop_reason"] for event in stream if event["type"] == "message_delta"]


@pytest.mark.parametrize("name", ["text", "text-and-calls"])
def test_the_last_block_may_not_stop(name: str) -> None:
    """The quirk takes the stop of the last block away, and nothing else."""
    numbered = TURNS[name].numbered(1)
    wanted = meant(numbered)
    last = len(wanted["content"]) - 1

    assert {**wanted, "stopped": wanted["stopped"] - {last}} == read(numbered, DEFAULT.but(quirk="block-not-stopped"))


def test_indices_with_gaps() -> None:
    """The quirk gives the first block the index 1 and each other one two more, and changes nothing else."""
    numbered = TURNS["text-and-calls"].numbered(1)

    usual, gaps = (events(numbered, framing) for framing in (DEFAULT, DEFAULT.but(quirk="indices-with-gaps")))

    moved = [{**event, "index": 2 * event["index"] + 1} if "index" in event else event for event in usual]
    assert moved == gaps


@pytest.mark.parametrize(
    ("quirk", "type"), [("start-repeated", "message_start"), ("stop-repeated", "content_block_stop")]
)
def test_repeated_events(quirk: Quirk, type: str) -> None:
    """The quirk sends each event of one type a second time, right behind the first, and no other."""
    numbered = TURNS["text-and-calls"].numbered(1)

    usual, twice = (events(numbered, framing) for framing in (DEFAULT, DEFAULT.but(quirk=quirk)))

    assert [again for one in _told(usual) for again in [one] * (2 if one["type"] == type else 1)] == _told(twice)


def _told(stream: list[Any]) -> list[Any]:
    """The events without the ping, which stands at the third place of any stream."""
    return [one for one in stream if one["type"] != "ping"]


def test_input_at_start() -> None:
    """The input stands where the block starts, and no delta repeats it."""
    _, start, *_ = stream = events(calls(WEATHER).numbered(1), DEFAULT.but(quirk="input-at-start"))

    assert {"city": "Zürich"} == start["content_block"]["input"]
    assert not any(event["type"] == "content_block_delta" for event in stream)


def test_no_input_at_start() -> None:
    """The block starts without the member for its input."""
    _, start, *_ = events(calls(WEATHER).numbered(1), DEFAULT.but(quirk="no-input-at-start"))

    assert "input" not in start["content_block"]


def test_a_stray_end_marker() -> None:
    """The quirk adds the end marker of another wire, in place of nothing."""
    marked = events(says("Hi."), DEFAULT.but(quirk="end-marker"))

    assert [*events(says("Hi."), DEFAULT), "[DONE]"] == marked


@pytest.mark.parametrize(
    ("arguments", "whole"),
    [
        ("", {}),
        ('{"a": 1, "b": [2', {"a": 1}),
        ('{"city": "Par', {}),
        ('{"a": {"b": 1, "c": 2}, "d": "x, ', {"a": {"b": 1, "c": 2}}),
        ('{"a": 1, "b": 2,', {"a": 1, "b": 2}),
        ("[1, 2]", {}),
        ("no JSON, none", {}),
    ],
)
def test_the_plain_input_holds_what_was_whole(arguments: str, whole: dict[str, Any]) -> None:
    """A plain reply holds the members of a cut input that were whole, and nothing of what is no object."""
    body = ANTHROPIC_MESSAGES.body(calls(Call("add", arguments), stop="length").numbered(1), 1, DEFAULT)

    assert whole == body["content"][0]["input"]


def test_the_text_that_events_add() -> None:
    """The texts of all events are the text for the caller: no thought, no input."""
    mixed = turn("It is ", WEATHER, "18 °C.").numbered(1)
    thought = TURNS["thinking"].numbered(1)

    assert "It is 18 °C." == "".join(map(ANTHROPIC_MESSAGES.text, events(mixed, FRAMINGS["pings"])))
    assert "" == "".join(map(ANTHROPIC_MESSAGES.text, [*events(thought, DEFAULT), "[DONE]"]))


def test_a_refusal_ends_the_turn() -> None:
    """The words of a refusal stand beside the stop reason, and no block has them."""
    body = ANTHROPIC_MESSAGES.body(refuses("No."), 1, DEFAULT)

    assert ([], "refusal", "No.") == (body["content"], body["stop_reason"], body["stop_details"]["explanation"])


def test_ids_of_replies_are_distinct() -> None:
    """Each reply of a run has an id of its own, the same plain and streamed."""
    bodies = [ANTHROPIC_MESSAGES.body(says("Hi."), n, DEFAULT)["id"] for n in (1, 2, 11)]
    starts: list[Any] = [ANTHROPIC_MESSAGES.events(says("Hi."), n, DEFAULT)[0] for n in (1, 2, 11)]

    assert 3 == len(set(bodies))
    assert bodies == [start["message"]["id"] for start in starts]
