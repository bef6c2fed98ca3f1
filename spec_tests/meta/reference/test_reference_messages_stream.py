"""Anthropic Messages: streams become turns."""

from __future__ import annotations

import json
from typing import Any

import pytest

from looptck_reference import ANTHROPIC_MESSAGES, MalformedReply, Stop, StreamBroken, Turn
from meta.reference.reference_messages import (
    FOUND,
    HOLOGRAM,
    PING,
    REDACTED,
    SEARCH,
    START,
    STOP,
    THINKING,
    delta,
    ends,
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


def test_a_toolset_is_named_again_in_the_result() -> None:
    """The API wants it there, and only there."""
    calls = turn_of(*tool_block(0, toolset_name="browser"), *tool_block(1)).calls

    assert [{"toolset_name": "browser"}, {}] == [call.extra for call in calls]


def test_thinking_goes_back_as_it_came() -> None:
    """Text in pieces, the signature whole, the redacted and the empty too."""
    events = [
        start(0, {"type": "thinking", "thinking": "", "signature": ""}),
        delta(0, "thinking_delta", thinking="Where "),
        delta(0, "thinking_delta", thinking="is it?"),
        delta(0, "signature_delta", signature=THINKING["signature"]),
        stop(0),
        *[start(1, REDACTED), stop(1)],
        start(2, {"type": "thinking", "thinking": "", "signature": ""}),
        *[delta(2, "signature_delta", signature="Eq"), stop(2)],
        *tool_block(3, *PARIS),
    ]

    assert [THINKING, REDACTED, {"type": "thinking", "thinking": "", "signature": "Eq"}, tool_use()] == blocks_of(
        *events
    )


def test_blocks_of_the_server_go_back_and_are_no_calls() -> None:
    """Their input comes in pieces like that of a call."""
    pieces = [delta(0, "input_json_delta", partial_json=piece) for piece in ('{"query"', ': "Paris"}')]
    events = [start(0, {**SEARCH, "input": {}}), *pieces, stop(0), start(1, FOUND), stop(1), *tool_block(2, *PARIS)]

    assert [SEARCH, FOUND, tool_use()] == blocks_of(*events)
    assert ["toolu_1"] == [call.id for call in turn_of(*events).calls]


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


def test_a_compaction_goes_back_whole() -> None:
    """Also what the start of its block did not name."""
    compacted = {"content": "So far: x", "encrypted_content": "EqgfCio"}
    events = [start(0, {"type": "compaction", "content": None}), delta(0, "compaction_delta", **compacted), stop(0)]

    turn = turn_of(*events, reason="compaction")

    assert (({"type": "compaction", **compacted},), Stop.PAUSE) == (turn.content, turn.stop)


def test_interleaved_blocks_stay_apart() -> None:
    """A delta belongs to the block with its index, and the index is the place of the block."""
    one, two = tool_block(0, *PARIS, call_id="a"), tool_block(1, '{"n"', ":2}", call_id="b")
    mixed = [two[0], one[0], *[event for pair in zip(one[2:5], two[2:5], strict=True) for event in pair], one[-1]]

    assert [("a", '{"city": "Paris"}'), ("b", '{"n":2}')] == [
        (call.id, call.arguments) for call in turn_of(*mixed).calls
    ]


def test_without_indexes_the_latest_block_grows() -> None:
    """As a server means it that sends none."""
    events = [*text_block(0, "x"), *tool_block(1, *PARIS)]
    bare = [{name: value for name, value in event.items() if name != "index"} for event in events]

    assert [text("x"), tool_use()] == blocks_of(*bare)


def test_one_index_for_all_blocks_loses_none() -> None:
    """A block that begins is a new one."""
    assert [text("x"), tool_use()] == blocks_of(*text_block(0, "x"), *tool_block(0, *PARIS))


def test_the_last_message_delta_wins() -> None:
    """Stop reason and counts are cumulative, and null is no news."""
    counts = {**ends(None, 12), "usage": {"output_tokens": 12, "input_tokens": None}}

    turn = MESSAGES.turn_of(START, *tool_block(0), ends("end_turn", 4), ends("tool_use", 9), counts, STOP)

    assert (Stop.CALLS, {"input_tokens": 3, "output_tokens": 12}) == (turn.stop, turn.usage)


def test_a_cut_block_is_not_waited_for() -> None:
    """The token limit leaves the last block without its end."""
    turn = turn_of(*tool_block(0, '{"city": "Pa')[:-1], reason="max_tokens")

    assert (Stop.LENGTH, 1) == (turn.stop, len(turn.calls))


def test_pings_and_unknown_events_say_nothing() -> None:
    """Wherever they come."""
    events = stream(*text_block(0, "1", "2"), *tool_block(1, *PARIS), stop="tool_use")
    noisy = [one for event in events for one in (PING, event, {"type": "new_event", "index": 0})]

    assert MESSAGES.turn_of(*events) == MESSAGES.turn_of(*noisy)


@pytest.mark.parametrize(
    "events",
    [
        pytest.param([START, *text_block(0, "x"), ends("end_turn")], id="no-message-stop"),
        pytest.param([START, *text_block(0, "x"), STOP], id="no-message-delta"),
        pytest.param([START, *text_block(0, "x"), ends(None), STOP], id="no-stop-reason"),
        pytest.param([START, *text_block(0, "x")], id="neither"),
        pytest.param([START, delta(0, "text_delta", text="x"), ends("end_turn"), STOP], id="delta-of-no-block"),
    ],
)
def test_streams_that_are_not_whole(events: list[Json]) -> None:
    """Stop reason and end mark are both needed, and no delta is lost."""
    with pytest.raises(StreamBroken):
        MESSAGES.turn_of(*events)


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


def test_halves_of_a_character_are_joined() -> None:
    """A character that was sent as two halves in two events arrives whole."""
    collector = ANTHROPIC_MESSAGES.stream()
    for event in stream(*text_block(0, "\ud83d", "\ude00")):
        collector.add(json.dumps(event))

    turn = collector.close()

    assert ("😀", (text("😀"),)) == (turn.text, turn.content)


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


def test_blocks_may_follow_those_at_the_start() -> None:
    """Blocks that are streamed stand behind those that the message started with, and the last stop reason holds."""
    message = {**WHOLE["message"], "content": WHOLE["message"]["content"][:1], "stop_reason": None}
    events = stream(*tool_block(1, *PARIS), stop="tool_use")

    turn = MESSAGES.turn_of({**WHOLE, "message": message}, *events[1:])

    assert [text("I look."), tool_use()] == list(turn.content)
    assert Stop.CALLS is turn.stop


@pytest.mark.parametrize("events", [[WHOLE], [{**WHOLE, "message": {**WHOLE["message"], "stop_reason": None}}, STOP]])
def test_a_message_that_starts_whole_needs_its_end(events: list[Json]) -> None:
    """Without the end, or a reason to stop, such a stream is broken as any other."""
    with pytest.raises(StreamBroken):
        MESSAGES.turn_of(*events)


@pytest.mark.parametrize("content", ["x", [1], {"type": "text"}])
def test_a_message_that_starts_with_no_blocks(content: object) -> None:
    """What stands in place of the blocks is not passed over."""
    with pytest.raises(MalformedReply):
        MESSAGES.turn_of({**WHOLE, "message": {**WHOLE["message"], "content": content}}, STOP)
