"""The blocks and items of streams: what comes at a wrong place is told, and what official servers send is not."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.bench.client import Reply, schemas
from looptck.bench.client.places import Places
from looptck.values.transcript import ServerEvent

Json = dict[str, Any]

START: Json = {"type": "message_start"}
STOP: Json = {"type": "message_stop"}
CREATED: Json = {"type": "response.created", "sequence_number": 0}


def block(what: str, at: Any) -> Json:
    """An event of a block in a Messages stream."""
    return {"type": f"content_block_{what}", "index": at}


def item(what: str, at: Any, id: str | None = "a", **more: Any) -> Json:
    """The beginning or end of an item in a Responses stream."""
    return {"type": f"response.output_item.{what}", "output_index": at, "item": {"id": id} if id else {}, **more}


def text(at: Any, id: str = "a") -> Json:
    """A piece of an item."""
    return {"type": "response.output_text.delta", "output_index": at, "item_id": id}


def end(what: str = "completed") -> Json:
    """The end of a Responses stream."""
    return {"type": f"response.{what}"}


def blocks(*events: Json) -> tuple[str, tuple[Json, ...]]:
    """A Messages stream."""
    return "anthropic-messages", (START, *events)


def items(*events: Json) -> tuple[str, tuple[Json, ...]]:
    """A Responses stream."""
    return "openai-responses", (CREATED, *events)


RIGHT = {
    "one-after-the-other": blocks(
        block("start", 0), block("delta", 0), block("stop", 0), block("start", 1), block("stop", 1), STOP
    ),
    "all-closed-at-the-end": blocks(
        block("start", 0), block("start", 1), block("delta", 1), block("stop", 0), block("stop", 1), STOP
    ),
    "a-second-message": blocks(block("start", 0), block("stop", 0), STOP, START, block("start", 0)),
    "an-item-cut": items(item("added", 0), text(0), end("incomplete")),
    "numbers-anew": items(item("added", 0, sequence_number=1), item("done", 0), end(), CREATED),
    "places-as-fractions": blocks(block("start", 0.0), block("delta", 0.0), block("stop", 0.0), STOP),
    "cut-by-an-error": blocks(block("start", 0), {"type": "error"}),
    "items": items(
        item("added", 0), text(0), item("done", 0), item("added", 1, "b"), text(1, "b"), item("done", 1, "b"), end()
    ),
    "failed-within-an-item": items(item("added", 0), text(0), end("failed")),
    "without-ids": items(item("added", 0, None), text(0), item("done", 0, None), end()),
    "numbers": items(item("added", 0, sequence_number=3), item("done", 0, sequence_number=4), end()),
    "chat": ("openai-chat", (block("delta", 7), text(7))),
}
WRONG = {
    "a-place-twice": (
        blocks(block("start", 0), block("start", 0)),
        "/index: 0 is the place of another one before it",
    ),
    "from-one": (blocks(block("start", 1)), "/index: 1, and the next place is 0"),
    "a-text-for-a-place": (blocks(block("start", "0")), '/index: "0", and the next place is 0'),
    "a-piece-of-nothing": (blocks(block("delta", 0)), "/index: nothing was opened at 0"),
    "an-end-of-nothing": (blocks(block("start", 0), block("stop", 1)), "/index: nothing was opened at 1"),
    "a-piece-behind-the-end": (
        blocks(block("start", 0), block("stop", 0), block("delta", 0)),
        "/index: what was opened at 0 is closed",
    ),
    "closed-twice": (
        blocks(block("start", 0), block("stop", 0), block("stop", 0)),
        "/index: what was opened at 0 is closed",
    ),
    "never-closed": (
        blocks(block("start", 0), block("stop", 0), block("start", 1), STOP),
        "/type: what was opened at index 1 is never closed",
    ),
    "an-item-never-closed": (
        items(item("added", 0), end()),
        "/type: what was opened at output_index 0 is never closed",
    ),
    "a-piece-of-no-item": (items(text(0)), "/output_index: nothing was opened at 0"),
    "a-part-of-no-item": (
        items({"type": "response.content_part.added", "output_index": 0}),
        "/output_index: nothing was opened at 0",
    ),
    "arguments-of-no-item": (
        items({"type": "response.function_call_arguments.done", "output_index": 0}),
        "/output_index: nothing was opened at 0",
    ),
    "a-piece-of-another-item": (items(item("added", 0), text(0, "b")), "/item: b is at the place of a"),
    "closed-under-another-id": (items(item("added", 0), item("done", 0, "b")), "/item: b is at the place of a"),
    "one-number": (
        items(item("added", 0, sequence_number=0)),
        "/sequence_number: 0 comes after 0",
    ),
}


def told(wire: str, events: tuple[Json, ...]) -> list[str]:
    """The faults of a stream."""
    places = Places(wire)
    return [fault for event in events for fault in places.faults(event)]


@pytest.mark.parametrize("stream", RIGHT.values(), ids=RIGHT)
def test_what_is_right(stream: tuple[str, tuple[Json, ...]]) -> None:
    """Blocks may overlap, numbers may be left out, a cut item may stay open, and each response counts anew."""
    assert [] == told(*stream)


@pytest.mark.parametrize(("stream", "fault"), WRONG.values(), ids=WRONG)
def test_what_is_wrong(stream: tuple[str, tuple[Json, ...]], fault: str) -> None:
    """It is told once, at the event that shows it."""
    assert [fault] == told(*stream)


def test_places_of_a_reply() -> None:
    """They are told among the faults of a stream, with the number and the name of the event."""
    stream = [ServerEvent(0.0, "content_block_stop", block("stop", 0))]
    reply = Reply("anthropic-messages", True, 200, events=stream)

    assert ["event 0 (content_block_stop): /index: nothing was opened at 0"] == schemas.stream_faults(reply)
