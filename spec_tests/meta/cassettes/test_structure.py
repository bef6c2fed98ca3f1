"""Structures: what counts in them and what does not."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.cassettes.structure import Differences, differences, events_of, kind_of, structure_of
from looptck.provider.script import Recorded
from looptck.values.framing import DEFAULT, Framing
from looptck.values.turns import Call, Thinking, Turn, calls, refuses, says, turn
from looptck.wires import WIRES

TURNS: dict[str, Turn] = {
    "text": says("It is 18 °C, and it will not rain before the evening."),
    "call": calls(Call.of("weather", {"city": "Paris"}), text="Let me see."),
    "calls": calls(Call.of("weather", {"city": "Paris"}), Call.of("ping")),
    "refusal": refuses("I would rather not."),
    "thought": turn(Thinking("Paris, I think."), Call.of("weather", {"city": "Paris"})),
}


def compared(left: Any, right: Any) -> tuple[list[str], list[str]]:
    """What the bodies have alone, in lines."""
    found = differences(structure_of([left]), structure_of([right]))
    return sorted(found.left), sorted(found.right)


def test_nothing_is_different() -> None:
    """What is said does not count."""
    assert ([], []) == compared({"a": 1, "b": ["x", "y"]}, {"a": 2.5, "b": ["z"]})


@pytest.mark.parametrize(
    ("left", "right", "only"),
    [
        ({"a": 1, "b": 2}, {"a": 1}, (["body /b number"], [])),
        ({"a": 1}, {"a": "1"}, (["body /a number"], ["body /a text"])),
        ({"a": None}, {"a": False}, (["body /a null"], ["body /a boolean"])),
        ({"a": []}, {"a": [{}]}, ([], ["body /a/* object"])),
        ({"a": {"b": {"c": 1}}}, {}, (["body /a object"], [])),
        ({"a": [{"type": "x", "b": 1}]}, {"a": [{"type": "x"}]}, (["body /a/*x/b number"], [])),
        ({"a": [{"type": "x"}]}, {"a": [{"type": "y"}]}, (["body /a/*x object"], ["body /a/*y object"])),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, (["body / in another order"], [])),
        ({"a": 1, "c": 3, "b": 2}, {"a": 1, "b": 2}, (["body /c number"], [])),
    ],
    ids=["member", "type", "null", "item", "whole", "in-a-list", "kind-of-item", "order", "new-between"],
)
def test_bodies(left: Any, right: Any, only: tuple[list[str], list[str]]) -> None:
    """Members, their types and their order count; parts of a missing member are not listed."""
    assert only == compared(left, right)


def streams(left: list[str], right: list[str]) -> Differences:
    """The differences of two streams of events of these types."""
    return differences(
        structure_of([{"type": type} for type in left]), structure_of([{"type": type} for type in right])
    )


def test_how_many_does_not_count() -> None:
    """It takes a server as many deltas as it likes."""
    assert not streams(["a", "b", "b", "b", "c"], ["a", "b", "c"])


def test_events() -> None:
    """An event that only one of them has is listed once, and the order of the others is compared without it."""
    assert streams(["a", "ping", "b"], ["a", "b"]) == Differences(frozenset({"event ping"}), frozenset())


def test_order_of_events() -> None:
    """Which follows which counts, the beginning and the end too."""
    found = streams(["a", "b", "a", "b"], ["a", "b"])

    assert Differences(frozenset({"b then a"}), frozenset()) == found
    assert {"(start) then b", "b then a", "a then (end)"} == streams(["b", "a"], ["a", "b"]).left


@pytest.mark.parametrize("name", TURNS)
@pytest.mark.parametrize("wire", WIRES.values(), ids=WIRES)
def test_every_fragment_has_the_same_shape(wire: Any, name: str) -> None:
    """A turn has one shape, into how many deltas it may fall."""
    said = TURNS[name].numbered(1)
    if not wire.can_say(said, stream=True):
        pytest.skip(f"{wire.name} has no words for it")

    shapes = [structure_of(wire.events(said, 1, framing)) for framing in (Framing(fragment=2), Framing(fragment=5))]

    assert not differences(*shapes)


@pytest.mark.parametrize("wire", WIRES.values(), ids=WIRES)
def test_kinds_of_the_encoders_events(wire: Any) -> None:
    """Every event has a kind of its own name, none is taken for a body or for an error."""
    said = [one for one in TURNS.values() if wire.can_say(one, stream=True)]

    kinds = {kind_of(event) for one in said for event in wire.events(one.numbered(1), 1, DEFAULT)}

    assert kinds.isdisjoint({"body", "error"})
    assert all(kind_of(wire.body(one.numbered(1), 1, DEFAULT)) == "body" for one in said)


@pytest.mark.parametrize("wire", WIRES.values(), ids=WIRES)
def test_errors_are_no_bodies(wire: Any) -> None:
    """An error has a kind of its own, alone and inside a stream."""
    assert kind_of(wire.error_body(500, "x")) == "error"
    assert kind_of(wire.error_events([], "x")[0]) == "error"


def test_events_of_a_stream() -> None:
    """Comments and fields that no wire uses are skipped, an end marker is its text, half an event is none."""
    body = b': hello\r\nevent: x\r\nid: 7\r\ndata: {"a":\r\ndata:1}\r\n\r\ndata: [DONE]\n\ndata: {"b"'
    reply = Recorded(200, (("content-type", "text/event-stream"),), body)

    assert [{"a": 1}, "[DONE]"] == events_of(reply)
