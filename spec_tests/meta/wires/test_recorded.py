"""Recorded replies are read back into the turns that they say: what an encoder wrote is read as it was meant."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptck.values.framing import DEFAULT, Quirk
from looptck.wires.found import NoTurn
from meta.kit.steady import STEADY
from meta.wires.all_wires import EACH, ENCODED
from meta.wires.encoded import EncodedWire


@pytest.mark.parametrize(("wire", "turn"), [pytest.param(w, t, id=f"{w.name}-{t}") for w in ENCODED for t in w.turns])
def test_a_plain_reply_is_read(wire: EncodedWire, turn: str) -> None:
    """The plain reply of any turn is read back as that turn."""
    numbered = wire.turns[turn].numbered(1)

    assert wire.recorded(numbered) == wire.of_body(numbered)


@pytest.mark.parametrize(
    ("wire", "turn", "framing"),
    [
        pytest.param(wire, turn, framing, id=f"{wire.name}-{turn}-{framing}")
        for wire in ENCODED
        for turn, framing in product(wire.named, wire.framings)
        if wire.is_ended(wire.named[turn])
    ],
)
def test_a_stream_is_read(wire: EncodedWire, turn: str, framing: str) -> None:
    """The stream of any turn in any framing is read back as that turn; broken arguments too, as they come as text."""
    numbered = wire.named[turn].numbered(1)

    assert wire.recorded(numbered) == wire.of_stream(numbered, wire.framings[framing])


@pytest.mark.parametrize(
    ("wire", "turn", "quirk"),
    [
        pytest.param(wire, turn, quirk, id=f"{wire.name}-{turn}-{quirk}")
        for wire in ENCODED
        for turn, quirk in product((*wire.quirk_turns, *wire.streamed_only), sorted(wire.wire.quirks))
        if quirk != "input-at-start" or turn in wire.turns  # an input that comes whole is never half
    ],
)
def test_quirks_are_read(wire: EncodedWire, turn: str, quirk: Quirk) -> None:
    """What servers of this wire were seen to do can be recorded too."""
    numbered = wire.named[turn].numbered(1)

    assert wire.recorded(numbered) == wire.of_stream(numbered, DEFAULT.but(quirk=quirk))
    if turn in wire.turns:
        assert wire.recorded(numbered) == wire.of_body(numbered, DEFAULT.but(quirk=quirk))


@EACH
@STEADY
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
