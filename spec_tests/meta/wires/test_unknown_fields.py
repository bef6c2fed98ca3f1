"""Fields that no documentation names are of one type wherever they stand, so that whoever merges deltas can do it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from looptck.values.framing import DEFAULT
from looptck.values.turns import Call, Hosted, Thinking, Turn, calls, turn
from looptck.wires import WIRES

UNKNOWN = DEFAULT.but(unknown_fields=True, unknown_events=True, empty_deltas=True, fragment=2)
TURN = turn("I look.", Thinking("Hm."), Hosted(), Call.of("weather", {"city": "Zürich"}), Call("ping", "")).numbered(1)
PLAIN = calls(Call.of("weather", {"city": "Zürich"}), Call("ping", ""), text="I look.").numbered(1)


def said(wire: str) -> Turn:
    """A turn that the wire can say."""
    return PLAIN if wire == "openai-chat" else TURN


def fields(value: object) -> Iterator[tuple[str, str]]:
    """The unknown fields in a value, each with the type of what stands in it."""
    if isinstance(value, dict):
        for name, member in value.items():
            if name.startswith("x_"):
                yield name, type(member).__name__
            yield from fields(member)
    elif isinstance(value, list):
        for member in value:
            yield from fields(member)


def merged(left: Any, right: Any) -> Any:
    """Two values made one as the strictest accumulators do it: texts and lists grow, and types never change."""
    if left is None or right is None:
        return left if right is None else right
    assert type(left) is type(right), f"{left!r} and {right!r} do not merge"
    if isinstance(left, dict):
        return {**left, **{name: merged(left.get(name), member) for name, member in right.items()}}
    return left + right if isinstance(left, str | list) else right


@pytest.mark.parametrize("wire", WIRES)
def test_unknown_fields_have_one_type(wire: str) -> None:
    """In body and stream alike, every unknown field holds an object; there are many of them, but of one name."""
    body, events = WIRES[wire].body(said(wire), 1, UNKNOWN), WIRES[wire].events(said(wire), 1, UNKNOWN)
    found = [*fields(body), *fields(events)]

    assert {("x_unknown", "dict")} == set(found)
    assert len(events) - 2 < len(found)


def test_chunks_of_chat_merge() -> None:
    """All chunks of a stream, merged whole, hold each unknown field once."""
    whole: Any = None
    for event in WIRES["openai-chat"].events(said("openai-chat"), 1, UNKNOWN):
        if isinstance(event, dict):
            whole = merged(whole, {name: event[name] for name in event if name.startswith("x_")})

    assert ["x_unknown"] == list(whole)


def test_deltas_of_messages_merge_into_their_block() -> None:
    """The start of a block and its deltas, merged whole, make one block."""
    blocks: dict[int, Any] = {}
    for event in WIRES["anthropic-messages"].events(said("anthropic-messages"), 1, UNKNOWN):
        if isinstance(event, dict) and "index" in event:
            part = event.get("content_block", event.get("delta", {}))
            blocks[event["index"]] = merged(blocks.get(event["index"]), {**(part or {}), "type": ""})

    assert len(blocks) == sum("x_unknown" in block for block in blocks.values())
    assert "I look." == blocks[0]["text"]


def test_events_of_responses_merge_into_their_item() -> None:
    """What the events of an item say beside their delta merges with the item."""
    found: dict[int, Any] = {}
    for event in WIRES["openai-responses"].events(said("openai-responses"), 1, UNKNOWN):
        if isinstance(event, dict) and "output_index" in event:
            place = event["output_index"]
            for holder in (event, event.get("item", {})):
                found[place] = merged(found.get(place), {name: holder[name] for name in holder if name[:2] == "x_"})

    assert [["x_unknown"]] * len(found) == [list(one) for one in found.values()]
