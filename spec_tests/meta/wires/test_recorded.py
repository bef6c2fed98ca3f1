"""Recorded replies are read back into the turns that they say: what an encoder wrote is read as it was meant."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptck.values.framing import DEFAULT, Framing
from looptck.values.turns import Turn
from looptck.wires.found import NoTurn
from meta.kit.each import each
from meta.wires.all_wires import EACH, ENCODED, by_names, with_quirks
from meta.wires.encoded import EncodedWire


def _body_is_read(wire: EncodedWire, turn: Turn, framing: Framing = DEFAULT) -> None:
    numbered = turn.numbered(1)

    assert wire.recorded(numbered) == wire.of_body(numbered, framing)


def _stream_is_read(wire: EncodedWire, turn: Turn, framing: Framing) -> None:
    numbered = turn.numbered(1)

    assert wire.recorded(numbered) == wire.of_stream(numbered, framing)


@EACH
def test_a_plain_reply_is_read(wire: EncodedWire) -> None:
    """The plain reply of any turn is read back as that turn."""
    each({name: (turn,) for name, turn in wire.turns.items()}, partial(_body_is_read, wire))


@EACH
def test_a_stream_is_read(wire: EncodedWire) -> None:
    """The stream of any turn in any framing is read back as that turn; broken arguments too, as they come as text."""
    ended = {name: turn for name, turn in wire.named.items() if wire.is_ended(turn)}

    each(by_names(ended, wire.framings), partial(_stream_is_read, wire))


@EACH
def test_streams_with_quirks_are_read(wire: EncodedWire) -> None:
    """What servers of this wire were seen to do can be recorded too."""
    both_ways = {name: wire.turns[name] for name in wire.quirk_turns}
    quirks = wire.wire.quirks - {*wire.other_words}
    cut = quirks - {"input-at-start"}  # an input that comes whole is never half

    each(
        by_names(both_ways, with_quirks(quirks)) | by_names(wire.streamed_only, with_quirks(cut)),
        partial(_stream_is_read, wire),
    )


@EACH
def test_bodies_with_quirks_are_read(wire: EncodedWire) -> None:
    """The same of plain replies."""
    turns = {name: wire.turns[name] for name in wire.quirk_turns}

    each(by_names(turns, with_quirks(wire.wire.quirks - {*wire.other_words})), partial(_body_is_read, wire))


@EACH
@given(st.data())
def test_any_reply_is_read(wire: EncodedWire, data: st.DataObject) -> None:
    """Any turn in any framing is read back from its stream, and from its plain reply where that can say it."""
    turn = data.draw(wire.any_turn, label="turn")
    numbered = turn.numbered(1)
    framing = data.draw(wire.any_framing, label="framing")

    if wire.is_ended(turn):
        assert wire.recorded(numbered) == wire.of_stream(numbered, framing)
    if wire.is_plain(turn):
        assert wire.recorded(numbered) == wire.of_body(numbered, framing)


@pytest.mark.parametrize(
    ("wire", "text", "stream"),
    [
        pytest.param(wire, text, stream, id=f"{wire.name}-{number}")
        for wire in ENCODED
        for number, (text, stream) in enumerate(wire.no_turn)
    ],
)
def test_a_body_without_a_turn_is_refused(wire: EncodedWire, text: str, stream: bool) -> None:
    """A body that is no reply, is not over, or says what no turn can, raises the one error that is announced."""
    with pytest.raises(NoTurn):
        wire.wire.turn(text, stream)
