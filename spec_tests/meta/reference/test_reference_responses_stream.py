"""OpenAI Responses: streams become turns."""

from __future__ import annotations

import pytest

from looptck_reference import Stop, StreamBroken, Turn
from meta.reference.reference_replies import Json
from meta.reference.reference_responses import (
    HOLOGRAM,
    REASONING,
    SEARCH,
    about,
    added,
    call_item,
    done,
    function_call,
    message_item,
    refusal,
    response,
    stream,
    text,
)
from meta.reference.reference_wires import RESPONSES

CALL = function_call()
PARIS = ['{"ci', 'ty":"P', 'aris"}']


def turn_of(*events: Json, reply: Json | None = None) -> Turn:
    """The turn that these items make; the last event has none of them unless it is given."""
    return RESPONSES.turn_of(*stream(reply or response(), *events))


def without(events: list[Json], *names: str) -> list[Json]:
    """The events without these keys."""
    return [{name: value for name, value in event.items() if name not in names} for event in events]


def not_done(events: list[Json]) -> list[Json]:
    """The events without those that say that something is whole."""
    return [event for event in events if not event["type"].endswith(".done")]


ADDED_TO = not_done(call_item(0, CALL, *PARIS))[1:]
"""The pieces of a call's arguments."""


@pytest.mark.parametrize(
    ("events", "items"),
    [
        pytest.param(call_item(0, CALL, *PARIS), [CALL], id="whole"),
        pytest.param(call_item(0, CALL), [CALL], id="no-deltas"),
        pytest.param(not_done(call_item(0, CALL, *PARIS)), [CALL], id="never-done"),
        pytest.param(call_item(0, CALL, *PARIS)[:-1], [CALL], id="item-never-done"),
        pytest.param(call_item(0, CALL, "{")[:-1], [CALL], id="arguments-done"),
        pytest.param(call_item(0, CALL, *PARIS)[1:], [CALL], id="never-added"),
        pytest.param([done(0, CALL)], [CALL], id="only-done"),
        pytest.param([added(0, CALL)], [CALL], id="only-added"),
        pytest.param(
            [added(0, {**CALL, "call_id": "call_0", "id": "fc_0"}), *call_item(0, CALL, *PARIS)[1:]],
            [CALL],
            id="new-ids",
        ),
        pytest.param(
            not_done([*message_item(0, text("ab"), "a", "b"), *call_item(1, CALL, *PARIS)]),
            [text("ab"), CALL],
            id="text-never-done",
        ),
        pytest.param(without(call_item(0, CALL, *PARIS), "output_index"), [CALL], id="item-ids-only"),
        pytest.param(
            without([*message_item(0, text("ab"), "a", "b"), *call_item(1, CALL, *PARIS)], "output_index", "item_id"),
            [text("ab"), CALL],
            id="neither",
        ),
        pytest.param(
            not_done(without(call_item(0, CALL, *PARIS), "output_index", "item_id")),
            [CALL],
            id="neither-and-never-done",
        ),
        pytest.param(
            not_done(
                without(
                    [*message_item(0, text("ab"), "a", "b"), *call_item(1, CALL, *PARIS)], "output_index", "item_id"
                )
            ),
            [text("ab"), CALL],
            id="neither-and-none-done",
        ),
        pytest.param(
            [
                *without([ADDED_TO[0]], "item_id"),
                added(0, {**CALL, "arguments": ""}),
                added(1, SEARCH),
                *without(ADDED_TO[1:], "output_index"),
            ],
            [CALL, SEARCH],
            id="id-late",
        ),
        pytest.param(
            [*call_item(0, CALL, *PARIS), *call_item(0, function_call("b"), *PARIS)],
            [CALL, function_call("b")],
            id="one-index-two-items",
        ),
        pytest.param([*call_item(0, CALL), *message_item(1, text("x"), "x")], [CALL, text("x")], id="text-behind"),
        pytest.param([done(2, CALL), done(0, SEARCH), done(1, HOLOGRAM)], [SEARCH, HOLOGRAM, CALL], id="order"),
        pytest.param([*call_item(1, CALL), done(0, SEARCH)], [SEARCH, CALL], id="order-as-added"),
        pytest.param([*call_item(1, CALL, *PARIS)[1:], done(0, SEARCH)], [SEARCH, CALL], id="order-of-deltas"),
        pytest.param([*call_item(1, CALL)[1:], done(0, SEARCH)], [SEARCH, CALL], id="order-of-arguments"),
        pytest.param(
            [*message_item(1, text("ab"), "a", "b")[1:], done(0, SEARCH), done(2, CALL)],
            [SEARCH, text("ab"), CALL],
            id="order-of-text",
        ),
    ],
)
def test_shapes_of_items(events: list[Json], items: list[Json]) -> None:
    """What the service does, and what compatible servers do, where the last event has no items."""
    turn = turn_of(*events)

    assert items == list(turn.content)
    assert [("call_1", '{"city":"Paris"}')] == [(one.id, one.arguments) for one in turn.calls][:1]


def test_an_item_that_is_done_is_as_it_was_done() -> None:
    """With what no delta told: its annotations, and a status of its own."""
    part = {"type": "output_text", "text": "x", "annotations": [{"type": "url_citation", "url": "https://example.org"}]}
    item = text("x", status="incomplete", content=[part])

    assert (item,) == turn_of(*message_item(0, item, "x")).content


def test_interleaved_calls_stay_apart() -> None:
    """A delta belongs to the item with its index."""
    one, two = not_done(call_item(0, CALL, *PARIS)), not_done(call_item(1, function_call("b"), '{"n"', ":", "2}"))
    mixed = [event for pair in zip(one, two, strict=True) for event in pair]

    assert ['{"city":"Paris"}', '{"n":2}'] == [call.arguments for call in turn_of(*mixed).calls]


def test_reasoning_is_taken_when_it_is_done() -> None:
    """What is encrypted when an item is added may be provisional, and the last event encrypts anew."""
    half, again = ({**REASONING, "encrypted_content": said} for said in ("gAA", "gBBBBBBBBB"))
    events = [added(0, half), done(0, REASONING), *call_item(1, CALL, *PARIS)]

    assert (REASONING, CALL) == turn_of(*events).content
    assert (REASONING, CALL) == turn_of(*events, reply=response(again, CALL)).content
    assert (again, CALL) == turn_of(events[0], *events[2:], reply=response(again, CALL)).content


def test_a_streamed_refusal() -> None:
    """Its text is the answer, and the caller has it as it comes, in whatever form it comes."""
    item = refusal("I will not.")
    events = [
        added(0, {**item, "content": []}),
        about("refusal.delta", 0, item, content_index=0, delta="I will "),
        about("refusal.delta", 0, item, content_index=0, delta="not."),
        about("refusal.done", 0, item, content_index=0, refusal="I will not."),
        done(0, item),
    ]

    for kept in (events, [events[0], *events[3:]], events[:3], events[3:], events[4:]):
        turn, heard = RESPONSES.received(RESPONSES.sse(*stream(response(), *kept)))

        assert ("I will not.", Stop.REFUSAL, (item,)) == (turn.text, turn.stop, turn.content)
        assert "I will not." == heard


@pytest.mark.parametrize("first", range(6))
def test_text_reaches_the_caller_once(first: int) -> None:
    """Whichever event is the first to have it, down to the last of all."""
    item = text("18 °C")
    events = [[], *[message_item(0, item, "18 ", "°C")[at:] for at in (0, 2, 4, 5, 6)]][first]
    body = RESPONSES.sse(*stream(response(item), *events))

    turn, heard = RESPONSES.received(body)

    assert ("18 °C", "18 °C") == (turn.text, heard)


@pytest.mark.parametrize(
    ("reason", "stop"),
    [("max_output_tokens", Stop.LENGTH), ("content_filter", Stop.CONTENT_FILTER), (None, Stop.LENGTH)],
)
def test_an_incomplete_response(reason: str | None, stop: Stop) -> None:
    """Its calls are half of what was meant."""
    turn = turn_of(*call_item(0, CALL, "{")[:2], reply=response(status="incomplete", reason=reason))

    assert (stop, 1) == (turn.stop, len(turn.calls))


@pytest.mark.parametrize("status", ["completed", "incomplete"])
def test_the_last_event_says_what_its_response_does_not(status: str) -> None:
    """Servers leave the status out of it."""
    last = {"type": f"response.{status}", "response": {}}

    turn = RESPONSES.turn_of(*call_item(0, CALL), last)

    assert {"completed": Stop.CALLS, "incomplete": Stop.LENGTH}[status] is turn.stop


@pytest.mark.parametrize(
    "events",
    [
        pytest.param(stream(response(CALL), *call_item(0, CALL))[:-1], id="no-last-event"),
        pytest.param(stream(response(), *call_item(0, CALL, *PARIS)[1:3]), id="deltas-of-nothing"),
    ],
)
def test_streams_that_are_not_whole(events: list[Json]) -> None:
    """The last event is needed, and no delta is lost."""
    with pytest.raises(StreamBroken):
        RESPONSES.turn_of(*events)
