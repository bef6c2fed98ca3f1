"""Recorded replies of the Messages API: arguments, ids, unknown deltas, hosted tools, messages that start whole."""

from __future__ import annotations

from dataclasses import replace

from looptck.values.framing import DEFAULT, Framing
from looptck.values.turns import Call, Hosted, Text, Thinking, Turn, calls, says
from looptck.wires.anthropic_messages import ANTHROPIC_MESSAGES
from meta.wires.messages.samples import TURNS


def read(turn: Turn, framing: Framing) -> Turn:
    """The turn that is read from a turn's stream."""
    stream = framing.encode(ANTHROPIC_MESSAGES.events(turn, 1, framing), named=True)
    return ANTHROPIC_MESSAGES.turn(stream.decode(), True)


def test_arguments_stay_as_the_model_wrote_them() -> None:
    """The arguments of a stream are its text, to the space, with nothing in place of nothing."""
    spaced = calls(Call("add", '{ "a":1 }'), Call("ping", "")).numbered(1)

    assert spaced.calls == read(spaced, DEFAULT).calls


def test_what_was_read_can_be_numbered() -> None:
    """A turn that was read has ids where the wire has them, and they stay."""
    thinks = TURNS["thinking"].numbered(1)
    signatures = [piece.signature for piece in thinks.pieces if isinstance(piece, Thinking)]
    again = read(thinks, DEFAULT).numbered(1)

    assert signatures == [piece.signature for piece in again.pieces if isinstance(piece, Thinking)]
    assert thinks.calls == again.calls


def test_an_unknown_delta_is_passed_over() -> None:
    """A block keeps what it has where a delta of another kind comes, such as a citation."""
    events = ANTHROPIC_MESSAGES.events(says("Hi."), 1, DEFAULT)
    citation = {"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": {}}}
    stream = DEFAULT.encode([*events[:3], citation, *events[3:]], named=True)

    assert (Text("Hi."),) == ANTHROPIC_MESSAGES.turn(stream.decode(), True).pieces


def test_hosted_tools_are_no_calls() -> None:
    """A tool that the service ran is no call, and is done where its result stands in the same reply."""
    under_way = TURNS["search-under-way"].numbered(1)

    assert (Hosted("search", done=False, id="hosted_1a"),) == read(under_way, DEFAULT).pieces[1:2]


def test_a_message_may_start_whole() -> None:
    """A stream whose message starts with its blocks and its stop reason says its turn with no event between."""
    wanted = calls(Call.of("weather", {"city": "Paris"}, id="toolu_1"), text="I look.", stop="calls")
    wanted = replace(wanted, container="container_1")
    message = ANTHROPIC_MESSAGES.body(wanted, 1, DEFAULT)
    events = [{"type": "message_start", "message": message}, {"type": "ping"}, {"type": "message_stop"}]

    assert wanted == ANTHROPIC_MESSAGES.turn(DEFAULT.encode(events, named=True).decode(), True)


def test_blocks_may_follow_those_at_the_start() -> None:
    """Blocks that are streamed stand with those that the message started with."""
    wanted = calls(Call.of("ping", id="toolu_1"), text="I look.").numbered(1)
    message = {**ANTHROPIC_MESSAGES.body(wanted, 1, DEFAULT), "stop_reason": None}
    events = ANTHROPIC_MESSAGES.events(wanted, 1, DEFAULT)
    later = [event for event in events[1:] if isinstance(event, dict) and event.get("index") != 0]
    started = {"type": "message_start", "message": {**message, "content": message["content"][:1]}}

    assert wanted.pieces == ANTHROPIC_MESSAGES.turn(DEFAULT.encode([started, *later]).decode(), True).pieces
