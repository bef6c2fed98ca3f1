"""Anthropic Messages: streams become turns."""

from __future__ import annotations

import json
from typing import Any

import pytest

from looptck_reference import ANTHROPIC_MESSAGES, MalformedReply, Stop, StreamBroken, Turn
from meta.reference.reference_messages import (
    HOLOGRAM,
    PING,
    STOP,
    delta,
    start,
    stop,
    stream,
    text,
    text_block,
    tool_block,
    tool_use,
)
from meta.reference.reference_replies import Json
from meta.reference.reference_wires import MESSAGES

PARIS = ['{"ci', 'ty": "P', 'aris"}']


def turn_of(*events: Json, reason: str | None = "tool_use") -> Turn:
    """The turn that these blocks make."""
    return MESSAGES.turn_of(*stream(*events, stop=reason))


def blocks_of(*events: Json) -> list[Json]:
    """The blocks that go back."""
    [message] = ANTHROPIC_MESSAGES.echo(turn_of(*events))
    content: list[Json] = message["content"]
    return content


HOLLOW = {"type": "tool_use", "id": "toolu_1", "name": "weather"}


@pytest.mark.parametrize(
    ("events", "block", "arguments"),
    [
        pytest.param(tool_block(0, *PARIS), tool_use(), '{"city": "Paris"}', id="pieces"),
        pytest.param(tool_block(0), tool_use(input={}), "", id="one-empty-piece"),
        pytest.param([start(0, {**HOLLOW, "input": {}}), stop(0)], tool_use(input={}), "", id="no-piece"),
        pytest.param([start(0, HOLLOW), stop(0)], tool_use(input={}), "", id="no-input-at-all"),
        pytest.param(tool_block(0, " "), tool_use(input={}), " ", id="blank"),
        pytest.param([start(0, tool_use()), stop(0)], tool_use(), '{"city": "Paris"}', id="all-in-the-start"),
        pytest.param(
            tool_block(0, input={"city": "Paris"}), tool_use(), '{"city": "Paris"}', id="start-and-empty-piece"
        ),
        pytest.param(tool_block(0, *PARIS)[:-1], tool_use(), '{"city": "Paris"}', id="never-stopped"),
        pytest.param(tool_block(0, "{"), tool_use(input={"INVALID_JSON": "{"}), "{", id="no-json"),
        pytest.param(tool_block(0, "[]"), tool_use(input={"INVALID_JSON": "[]"}), "[]", id="no-object"),
        pytest.param(
            tool_block(0, *PARIS, caller={"type": "direct"}, toolset_name="browser"),
            tool_use(caller={"type": "direct"}, toolset_name="browser"),
            '{"city": "Paris"}',
            id="more-fields",
        ),
    ],
)
def test_shapes_of_calls(events: list[Json], block: Json, arguments: str) -> None:
    """What the service does, and what compatible servers do: the block that goes back has an object for its input."""
    turn = turn_of(*events)

    assert ([block], [arguments]) == (list(turn.content), [call.arguments for call in turn.calls])


def test_citations_are_kept() -> None:
    """They belong to the text."""
    cited = [{"type": "page_location", "cited_text": said} for said in "ab"]
    events = text_block(0, "x")
    events[-1:-1] = [delta(0, "citations_delta", citation=one) for one in cited]

    assert [{**text("x"), "citations": cited}] == blocks_of(*events)


@pytest.mark.parametrize(
    ("head", "deltas", "block"),
    [
        (HOLOGRAM, [], HOLOGRAM),
        ({**HOLOGRAM, "data": ""}, [{"data": "01"}, {"data": "10"}], HOLOGRAM),
        ({**HOLOGRAM, "depth": None}, [{"depth": 2}, {"depth": 3}], HOLOGRAM),
        ({**HOLOGRAM, "depth": "shallow"}, [{"depth": 3}], HOLOGRAM),
        ({**HOLOGRAM, "data": [0, 1]}, [{"data": "0110"}], HOLOGRAM),
        (text("x"), [{"glow": "bright"}], text("x")),
    ],
)
def test_unknown_blocks_and_deltas(head: Json, deltas: list[Json], block: Json) -> None:
    """An unknown delta grows or replaces what its block began with, and adds nothing that the API would refuse."""
    assert [block] == blocks_of(start(0, head), *[delta(0, "new_delta", **one) for one in deltas], stop(0))


def test_without_indexes_the_latest_block_grows() -> None:
    """As a server means it that sends none."""
    events = [*text_block(0, "x"), *tool_block(1, *PARIS)]
    bare = [{name: value for name, value in event.items() if name != "index"} for event in events]

    assert [text("x"), tool_use()] == blocks_of(*bare)


@pytest.mark.parametrize(
    "event",
    [
        {"type": "message_start"},
        {"type": "content_block_start", "index": 0},
        {"type": "content_block_start", "index": 0, "content_block": "x"},
        start(0, {"type": "text", "text": ["x"]}),
        {"type": "content_block_delta", "index": 0},
        delta(0, "text_delta", text=5),
        delta(0, "input_json_delta", partial_json={}),
        {"type": "message_delta"},
        {"type": "message_delta", "delta": {"stop_reason": 5}},
    ],
    ids=repr,
)
def test_malformed_events(event: dict[str, Any]) -> None:
    """A known event of another shape is never passed over."""
    collector = ANTHROPIC_MESSAGES.stream()
    collector.add(json.dumps(start(0, text(""))))

    with pytest.raises(MalformedReply):
        collector.add(json.dumps(event))


def test_text_in_the_start_of_a_block_reaches_the_caller() -> None:
    """As all text does."""
    turn, heard = MESSAGES.received(
        MESSAGES.sse(*stream(start(0, text("18 ")), delta(0, "text_delta", text="°C"), stop(0)))
    )

    assert ("18 °C", "18 °C") == (turn.text, heard)


# -- messages that start whole ---------------------------------------------------------------------------------------

BY_CODE: Json = {"type": "code_execution_20250825", "tool_id": "srvtoolu_1"}
WHOLE: Json = {
    "type": "message_start",
    "message": {
        "type": "message",
        "role": "assistant",
        "content": [text("I look."), tool_use(caller=BY_CODE)],
        "stop_reason": "tool_use",
        "container": {"id": "container_1"},
        "usage": {"input_tokens": 3, "output_tokens": 5},
    },
}


def test_a_message_may_start_whole() -> None:
    """A message that starts with its blocks and its stop reason is a turn once it is over, with nothing between."""
    turn = MESSAGES.turn_of(WHOLE, PING, STOP)

    assert WHOLE["message"]["content"] == list(turn.content)
    assert ("I look.", Stop.CALLS) == (turn.text, turn.stop)
    assert ['{"city": "Paris"}'] == [call.arguments for call in turn.calls]
    assert {"input_tokens": 3, "output_tokens": 5} == turn.usage


@pytest.mark.parametrize("events", [[WHOLE], [{**WHOLE, "message": {**WHOLE["message"], "stop_reason": None}}, STOP]])
def test_a_message_that_starts_whole_needs_its_end(events: list[Json]) -> None:
    """Without the end, or a reason to stop, such a stream is broken as any other."""
    with pytest.raises(StreamBroken):
        MESSAGES.turn_of(*events)


def test_another_message_in_a_stream() -> None:
    """A second message is not taken for a part of the first."""
    one, other = ({**WHOLE, "message": {**WHOLE["message"], "id": id}} for id in ("msg_one", "msg_other"))

    with pytest.raises(StreamBroken, match="'msg_other' begins in the stream of the message 'msg_one'"):
        MESSAGES.turn_of(one, other, STOP)


@pytest.mark.parametrize("content", ["x", [1], {"type": "text"}])
def test_a_message_that_starts_with_no_blocks(content: object) -> None:
    """What stands in place of the blocks is not passed over."""
    with pytest.raises(MalformedReply):
        MESSAGES.turn_of({**WHOLE, "message": {**WHOLE["message"], "content": content}}, STOP)
