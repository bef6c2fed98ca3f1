"""Recorded replies of the Messages API, read back into turns: what the encoder wrote is read as it was meant."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptck.framing import NATURAL, Framing
from looptck.turns import Call, Hosted, Piece, Refusal, Stop, Text, Thinking, Turn, calls, says
from looptck.wires.anthropic_messages import ANTHROPIC_MESSAGES
from looptck.wires.found import NoTurn
from meta.kit.steady import STEADY
from meta.wires.messages.reader import value_of
from meta.wires.messages.samples import ANY_FRAMING, ANY_TURN, BROKEN, CUT, FRAMINGS, STRANGE, TURNS

ALL = {**TURNS, "cut": CUT, "broken": BROKEN, "strange": STRANGE}
READ: dict[str, Framing] = {**FRAMINGS, **{quirk: NATURAL.but(quirk=quirk) for quirk in ANTHROPIC_MESSAGES.quirks}}


def told(turn: Turn) -> tuple[list[Any], Stop]:
    """What a reply can say of a turn: thoughts have no ids, and arguments count as values."""
    refusal = turn.refusal if turn.stop in {None, "refusal"} else None
    stop = "refusal" if turn.stop is None and turn.refusal is not None else turn.stopped
    said = [_told(piece) for piece in turn.pieces if not isinstance(piece, Refusal)]
    return [*said, *([] if refusal is None else [Refusal(refusal)])], stop


def _told(piece: Piece) -> Any:
    match piece:
        case Thinking():
            return "thought", piece.redacted or piece.text, piece.seal
        case Call():
            return "call", piece.tool, value_of(piece.arguments), piece.id
        case _:
            return piece


@pytest.mark.parametrize("name", TURNS)
def test_a_plain_reply_is_read(name: str) -> None:
    """The plain reply of any turn is read back as that turn."""
    numbered = TURNS[name].numbered(1)
    body = json.dumps(ANTHROPIC_MESSAGES.body(numbered, 1, NATURAL))

    assert told(numbered) == told(ANTHROPIC_MESSAGES.turn(body, False))


@pytest.mark.parametrize(
    ("name", "framing"),
    [(name, framing) for name in ALL for framing in sorted(READ) if framing != "input-at-start" or name in TURNS],
)
def test_a_stream_is_read(name: str, framing: str) -> None:
    """The stream of any turn in any framing is read back as that turn; broken arguments too, if they come as text."""
    numbered = ALL[name].numbered(1)

    assert told(numbered) == told(read(numbered, READ[framing]))


@STEADY
@given(ANY_TURN, ANY_FRAMING, st.booleans())
def test_any_stream_is_read(turn: Turn, framing: Framing, mark: bool) -> None:
    """The stream of any turn in any framing is read back as that turn."""
    numbered = turn.numbered(1)

    assert told(numbered) == told(read(numbered, framing.but(mark=mark)))


@STEADY
@given(ANY_TURN, ANY_FRAMING)
def test_any_plain_reply_is_read(turn: Turn, framing: Framing) -> None:
    """The plain reply of any turn is read back as that turn."""
    numbered = turn.numbered(1)
    body = json.dumps(ANTHROPIC_MESSAGES.body(numbered, 1, framing), ensure_ascii=framing.escaped)

    assert told(numbered) == told(ANTHROPIC_MESSAGES.turn(body, False))


def read(turn: Turn, framing: Framing) -> Turn:
    """The turn that is read from a turn's stream."""
    stream = framing.dress(ANTHROPIC_MESSAGES.events(turn, 1, framing), named=True)
    return ANTHROPIC_MESSAGES.turn(stream.decode(), True)


def test_arguments_stay_as_the_model_wrote_them() -> None:
    """The arguments of a stream are its text, to the space, with nothing in place of nothing."""
    spaced = calls(Call("add", '{ "a":1 }'), Call("ping", "")).numbered(1)

    assert spaced.calls == read(spaced, NATURAL).calls


def test_what_was_read_can_be_numbered() -> None:
    """A turn that was read has ids where the wire has them, and they stay."""
    thinks = TURNS["thinking"].numbered(1)
    seals = [piece.seal for piece in thinks.pieces if isinstance(piece, Thinking)]
    again = read(thinks, NATURAL).numbered(1)

    assert seals == [piece.seal for piece in again.pieces if isinstance(piece, Thinking)]
    assert thinks.calls == again.calls


UNENDED = NATURAL.dress(ANTHROPIC_MESSAGES.events(says("Hi."), 1, NATURAL)[:-1])
CUT_OFF = NATURAL.dress(ANTHROPIC_MESSAGES.without_finish(ANTHROPIC_MESSAGES.events(says("Hi."), 1, NATURAL)))
FAILED = NATURAL.dress(ANTHROPIC_MESSAGES.error_events([], "No."))


@pytest.mark.parametrize(
    ("text", "stream"),
    [
        ("", False),
        ("", True),
        ("null", False),
        ("{}", False),
        (json.dumps(ANTHROPIC_MESSAGES.error_body(400, "No.")), False),
        ('{"content": [{"type": "container_upload"}], "stop_reason": "end_turn"}', False),
        ('{"content": [{"type": "server_tool_use", "name": "advisor"}], "stop_reason": "end_turn"}', False),
        ('{"content": [], "stop_reason": null}', False),
        (UNENDED.decode(), True),
        (CUT_OFF.decode(), True),
        (FAILED.decode(), True),
        ("data: {}\n\n", True),
        ("data: 1\n\n", True),
    ],
)
def test_what_says_no_turn(text: str, stream: bool) -> None:
    """A body that is no whole message, or has blocks that no piece stands for, is refused."""
    with pytest.raises(NoTurn):
        ANTHROPIC_MESSAGES.turn(text, stream)


def test_an_unknown_delta_is_passed_over() -> None:
    """A block keeps what it has where a delta of another kind comes, such as a citation."""
    events = ANTHROPIC_MESSAGES.events(says("Hi."), 1, NATURAL)
    citation = {"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": {}}}
    stream = NATURAL.dress([*events[:3], citation, *events[3:]], named=True)

    assert (Text("Hi."),) == ANTHROPIC_MESSAGES.turn(stream.decode(), True).pieces


def test_hosted_tools_are_told_from_calls() -> None:
    """A tool that the service ran is no call, and is done where its result stands in the same reply."""
    under_way = TURNS["search-under-way"].numbered(1)

    assert (Hosted("search", done=False, id="hosted_1a"),) == read(under_way, NATURAL).pieces[1:2]


def test_a_message_may_start_whole() -> None:
    """A stream whose message starts with its blocks and its stop reason says its turn with no event between."""
    wanted = calls(Call.of("weather", {"city": "Paris"}, id="toolu_1"), text="I look.", stop="calls")
    message = {**ANTHROPIC_MESSAGES.body(wanted, 1, NATURAL), "container": {"id": "container_1"}}
    events = [{"type": "message_start", "message": message}, {"type": "ping"}, {"type": "message_stop"}]

    assert wanted == ANTHROPIC_MESSAGES.turn(NATURAL.dress(events, named=True).decode(), True)


def test_blocks_may_follow_those_at_the_start() -> None:
    """Blocks that are streamed stand with those that the message started with."""
    wanted = calls(Call.of("ping", id="toolu_1"), text="I look.").numbered(1)
    message = {**ANTHROPIC_MESSAGES.body(wanted, 1, NATURAL), "stop_reason": None}
    events = ANTHROPIC_MESSAGES.events(wanted, 1, NATURAL)
    later = [event for event in events[1:] if isinstance(event, dict) and event.get("index") != 0]
    started = {"type": "message_start", "message": {**message, "content": message["content"][:1]}}

    assert wanted.pieces == ANTHROPIC_MESSAGES.turn(NATURAL.dress([started, *later]).decode(), True).pieces
