"""What the encoders write, by readers of our own: one and the same turn, plain and in any framing."""

from __future__ import annotations

import json
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from looptck.values.framing import Framing
from looptck.values.turns import Turn
from meta.kit.each import each
from meta.wires.all_wires import EACH, ENCODED, by_names, with_quirks
from meta.wires.encoded import EncodedWire


@EACH
def test_the_body_says_the_turn(wire: EncodedWire) -> None:
    """The plain reply of any turn is read as the turn that it was."""

    def said(turn: Turn) -> None:
        numbered = turn.numbered(1)

        assert wire.in_body(numbered) == wire.read_body(wire.body(numbered))

    each({name: (turn,) for name, turn in wire.turns.items()}, said)


@pytest.mark.parametrize(
    ("wire", "turn"), [pytest.param(w, t, id=f"{w.name}-{t}") for w in ENCODED for t in w.shown_bodies]
)
def test_the_default_body(wire: EncodedWire, turn: str, snapshot: SnapshotAssertion) -> None:
    """The plain reply, as the service was seen to write it, with its members in order."""
    assert snapshot == json.dumps(wire.body(wire.turns[turn].numbered(1)), indent=1)


@pytest.mark.parametrize(
    ("wire", "turn"), [pytest.param(w, t, id=f"{w.name}-{t}") for w in ENCODED for t in w.shown_streams]
)
def test_the_default_stream(wire: EncodedWire, turn: str, snapshot: SnapshotAssertion) -> None:
    """The streamed reply, byte for byte, as the service was seen to write it."""
    assert snapshot == wire.stream(wire.turns[turn].numbered(1)).decode()


def _says_the_same(wire: EncodedWire, turn: Turn, framing: Framing) -> None:
    numbered = turn.numbered(1)

    assert wire.in_stream(numbered) == wire.read_stream(wire.stream(numbered, framing))


@EACH
def test_a_named_framing_changes_nothing(wire: EncodedWire) -> None:
    """The stream of any turn in any named framing is read as the turn that it was."""
    each(by_names(wire.named, wire.framings), partial(_says_the_same, wire))


@pytest.mark.parametrize("wire", [wire for wire in ENCODED if wire.quirks], ids=lambda wire: wire.name)
def test_a_quirk_changes_nothing(wire: EncodedWire) -> None:
    """Any turn is read as the turn that it was, in the layouts of compatible servers too."""
    each(by_names(wire.turns, with_quirks(wire.quirks)), partial(_says_the_same, wire))


@EACH
@given(st.data())
def test_any_framing_changes_nothing(wire: EncodedWire, data: st.DataObject) -> None:
    """Any turn in any framing is read as the turn that it was: no framing says anything of its own."""
    numbered = data.draw(wire.any_turn, label="turn").numbered(1)
    framing = data.draw(wire.any_framing, label="framing")

    assert wire.in_stream(numbered) == wire.read_stream(wire.stream(numbered, framing))


@EACH
@given(st.data())
def test_any_body_says_the_turn(wire: EncodedWire, data: st.DataObject) -> None:
    """The same of the plain reply, for turns whose arguments it can carry."""
    turn = data.draw(wire.any_turn.filter(wire.is_plain), label="turn")
    numbered = turn.numbered(1)
    framing = data.draw(wire.any_framing, label="framing")

    assert wire.in_body(numbered) == wire.read_body(wire.body(numbered, framing))
