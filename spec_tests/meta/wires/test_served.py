"""Pieces that the service makes by itself: sent as they are, plain and streamed, and read back from recordings."""

from __future__ import annotations

import json
from typing import Any

import pytest

from looptck.bench.cases import cases
from looptck.values.framing import DEFAULT
from looptck.values.turns import Served, Turn
from looptck.wires import WIRES


def _served(turn: Turn) -> list[dict[str, Any]]:
    return [piece.value for piece in turn.pieces if isinstance(piece, Served)]


TURNS = {
    f"{case.name}-{wire}": (wire, step.turn.numbered(1))
    for case in cases().values()
    for wire in case.wires or ()
    for step in case.steps
    if step.turn and any(isinstance(piece, Served) for piece in step.turn.pieces)
}
"""The turns of the declared cases that have such pieces."""
READ_BACK = {
    name: one for name, one in TURNS.items() if not {piece["type"] for piece in _served(one[1])} & {"text", "message"}
}
"""Those without a cited text or a message of several parts, which are read as any other text."""


@pytest.mark.parametrize(("wire", "turn"), TURNS.values(), ids=TURNS)
def test_a_served_piece_is_sent_as_it_is(wire: str, turn: Turn) -> None:
    """The plain reply has each piece, member for member."""
    body = WIRES[wire].body(turn, 1, DEFAULT)
    sent = body["content" if "content" in body else "output"]

    assert _served(turn) == [one for one in sent if one in _served(turn)]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("wire", "turn"), READ_BACK.values(), ids=READ_BACK)
def test_a_served_piece_is_read_back(wire: str, turn: Turn, stream: bool) -> None:
    """What was recorded means what was sent, and so does the container of its code; a search is one with its query."""
    played = WIRES[wire]
    text = (
        DEFAULT.encode(played.events(turn, 1, DEFAULT)).decode()
        if stream
        else json.dumps(played.body(turn, 1, DEFAULT))
    )

    read = played.turn(text, stream)

    assert _served(turn)[-1] == _served(read)[-1]
    assert played.echo(turn) == played.echo(read)
    assert turn.container == read.container
