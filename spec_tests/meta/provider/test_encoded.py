"""A turn that comes again is encoded once, and each of its replies is as if it were encoded anew."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptck.provider.encoded import Encoder, spelled
from looptck.values.framing import DEFAULT, PRESETS, Framing
from looptck.values.jsontext import compact
from looptck.values.turns import Call, Refusal, Turn, calls, says, turn
from looptck.wires import WIRES, Wire

NOBODYS = 7_315_529_084_417_263
TEXTS = st.one_of(st.text(max_size=30), st.sampled_from([word.decode() for n in (1, NOBODYS) for word in spelled(n)]))
TURNS = st.one_of(TEXTS.map(says), TEXTS.map(Refusal).map(turn), st.just(calls(Call.of("f", id="a"))))
EACH = pytest.mark.parametrize("wire", WIRES.values(), ids=lambda wire: wire.name)


def plain(wire: Wire, turn: Turn, n: int, framing: Framing) -> bytes:
    """A plain reply, without an encoder."""
    reply = wire.body(turn, n, framing)
    return json.dumps(reply).encode() if framing.escaped else compact(reply)


def stream(wire: Wire, turn: Turn, n: int, framing: Framing) -> bytes:
    """A streamed reply, without an encoder."""
    return framing.encode(wire.events(turn, n, framing), named=wire.named_events)


@EACH
@given(st.data())
def test_each_reply_is_as_if_encoded_anew(wire: Wire, data: st.DataObject) -> None:
    """In whatever order turns, framings and numbers come, a reply is the one that the wire encodes."""
    encoder = Encoder(wire)
    turns = data.draw(st.lists(TURNS.filter(lambda one: wire.can_say(one, stream=False)), min_size=1, max_size=2))
    framings = data.draw(st.lists(st.sampled_from(list(PRESETS.values())), min_size=1, max_size=2), label="framings")
    for _ in range(6):
        said, framing = data.draw(st.sampled_from(turns), label="turn"), data.draw(st.sampled_from(framings))
        n = data.draw(st.one_of(st.integers(1, 12), st.sampled_from([999, 10_000])), label="number")

        if data.draw(st.booleans(), label="streamed"):
            assert stream(wire, said, n, framing) == encoder.stream(said, n, framing)
        else:
            assert plain(wire, said, n, framing) == encoder.plain(said, n, framing)


@EACH
def test_a_turn_is_encoded_once(wire: Wire) -> None:
    """From the third reply on, a turn is not encoded again."""
    encoded: list[int] = []

    def body(turn: Turn, n: int, framing: Framing) -> dict[str, Any]:
        encoded.append(n)
        return wire.body(turn, n, framing)

    def events(turn: Turn, n: int, framing: Framing) -> list[object]:
        encoded.append(n)
        return wire.events(turn, n, framing)

    encoder, said = Encoder(replace(wire, body=body, events=events)), says("Paris.")
    for encode, anew in ((encoder.plain, plain), (encoder.stream, stream)):
        replies = [encode(said, n, DEFAULT) for n in range(1, 100)]

        assert [1, 2, NOBODYS] == encoded
        assert [anew(wire, said, n, DEFAULT) for n in range(1, 100)] == replies
        encoded.clear()


def test_a_reply_that_spells_its_number_otherwise_is_encoded_each_time() -> None:
    """A number in a form that the encoder does not know is never left out."""
    wire = replace(WIRES["openai-chat"], body=lambda _, n, __: {"n": f"{n:x}"})
    encoder, said = Encoder(wire), says("Paris.")

    assert [b'{"n":"%x"}' % n for n in range(1, 20)] == [encoder.plain(said, n, DEFAULT) for n in range(1, 20)]
