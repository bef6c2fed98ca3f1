"""The Messages encoder, for the tests that all encoders share."""

from __future__ import annotations

import json
from typing import Any

from looptck.values.framing import DEFAULT
from looptck.values.turns import Call, Piece, Refusal, Stop, Thinking, Turn, says
from looptck.wires.anthropic_messages import ANTHROPIC_MESSAGES
from meta.wires.encoded import EncodedWire
from meta.wires.messages.reader import said, value_of
from meta.wires.messages.samples import ANY_FRAMING, ANY_TURN, BROKEN, CUT, FRAMINGS, STRANGE, TURNS, meant

_SHOWN = ("text", "refusal", "text-and-calls", "thinking", "search", "mcp", "nothing")
_IN_BODY = ("content", "stop_reason", "stop_sequence", "stop_details")

_UNENDED = DEFAULT.encode(ANTHROPIC_MESSAGES.events(says("Hi."), 1, DEFAULT)[:-1])
_CUT_OFF = DEFAULT.encode(ANTHROPIC_MESSAGES.without_finish(ANTHROPIC_MESSAGES.events(says("Hi."), 1, DEFAULT)))
_FAILED = DEFAULT.encode(ANTHROPIC_MESSAGES.error_events([], "No."))


def read_stream(stream: bytes) -> dict[str, Any]:
    """What a stream says, without what is unknown."""
    return _known(said(stream))


def _known(message: dict[str, Any]) -> dict[str, Any]:
    for block in message["content"]:
        block.pop("x_unknown", None)
    return message


def _read_body(body: dict[str, Any]) -> dict[str, Any]:
    return {member: _known(body)[member] for member in _IN_BODY}


def _in_body(turn: Turn) -> dict[str, Any]:
    wanted = meant(turn)
    return {member: wanted[member] for member in _IN_BODY}


def recorded(turn: Turn) -> tuple[list[Any], Stop]:
    """What a reply can say of a turn: thoughts have no ids, and arguments count as values."""
    refusal = turn.refusal if turn.stop in {None, "refusal"} else None
    stop = "refusal" if turn.stop is None and turn.refusal is not None else turn.stopped
    said = [_recorded(piece) for piece in turn.pieces if not isinstance(piece, Refusal)]
    return [*said, *([] if refusal is None else [Refusal(refusal)])], stop


def _recorded(piece: Piece) -> Any:
    match piece:
        case Thinking():
            return "thought", piece.redacted or piece.text, piece.signature
        case Call():
            return "call", piece.tool, value_of(piece.arguments), piece.id
        case _:
            return piece


MESSAGES = EncodedWire(
    wire=ANTHROPIC_MESSAGES,
    turns=TURNS,
    streamed_only={"cut": CUT, "broken": BROKEN, "strange": STRANGE},
    framings=FRAMINGS,
    any_turn=ANY_TURN,
    any_framing=ANY_FRAMING,
    shown_bodies=_SHOWN,
    shown_streams=_SHOWN,
    in_body=_in_body,
    in_stream=meant,
    read_body=_read_body,
    read_stream=read_stream,
    quirks=("input-at-start", "no-input-at-start", "unnamed-events", "end-marker"),
    quirk_turns=list(TURNS),
    recorded=recorded,
    read_back=recorded,
    no_turn=(
        ("", False),
        ("", True),
        ("null", False),
        ("{}", False),
        (json.dumps(ANTHROPIC_MESSAGES.error_body(400, "No.")), False),
        ('{"content": [{"type": "local_tool_use"}], "stop_reason": "end_turn"}', False),
        ('{"content": [{"type": "tool_use", "name": "advisor"}], "stop_reason": "end_turn"}', False),
        ('{"content": [], "stop_reason": null}', False),
        (_UNENDED.decode(), True),
        (_CUT_OFF.decode(), True),
        (_FAILED.decode(), True),
        ("data: {}\n\n", True),
        ("data: 1\n\n", True),
    ),
)
