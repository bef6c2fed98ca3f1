"""The official SDKs as second opinion on the encoders: their models know each member, their clients read the turn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptck.values.framing import DEFAULT, Framing
from looptck.values.turns import Turn
from meta.kit.each import each
from meta.wires.all_wires import OPINIONS, by_names, with_quirks
from meta.wires.encoded import SecondOpinion

EACH = pytest.mark.parametrize("sdk", OPINIONS, ids=lambda sdk: sdk.wire.name)


@EACH
def test_the_models_know_every_body(sdk: SecondOpinion) -> None:
    """Every member of the plain reply of any turn is a field of the SDK's model of it, and its value fits."""

    def known(turn: Turn) -> None:
        assert not sdk.undeclared_in_body(sdk.wire.body(turn.numbered(1), 1, DEFAULT))

    each({name: (turn,) for name, turn in {**sdk.turns, **sdk.plain_only}.items()}, known)


@EACH
def test_the_models_know_every_event(sdk: SecondOpinion) -> None:
    """Every member of every event is a field of the SDK's model of it, and its value fits; the body's are as well."""

    def known(turn: Turn, named: Framing) -> None:
        numbered = turn.numbered(1)
        framing = named.but(unknown_fields=False, unknown_events=False)

        assert not sdk.undeclared_in_events(sdk.wire.events(numbered, 1, framing))
        assert not sdk.undeclared_in_body(sdk.wire.body(numbered, 1, framing))

    each(by_names(sdk.turns, sdk.modelled), known)


@EACH
@given(st.data())
def test_the_models_know_anything(sdk: SecondOpinion, data: st.DataObject) -> None:
    """The same for any turn in any framing."""
    numbered = data.draw(sdk.any_turn, label="turn").numbered(1)
    known = data.draw(sdk.any_framing, label="framing").but(unknown_fields=False, unknown_events=False)

    assert not sdk.undeclared_in_events(sdk.wire.events(numbered, 1, known))
    assert not sdk.undeclared_in_body(sdk.wire.body(numbered, 1, known))


@EACH
def test_the_client_reads_a_named_framing(sdk: SecondOpinion) -> None:
    """The SDK's client reads any turn in any named framing as the turn that it was."""
    each(by_names(sdk.turns, sdk.read), lambda turn, framing: sdk.agrees(turn.numbered(1), framing))


@EACH
@given(st.data())
def test_the_client_reads_any_framing(sdk: SecondOpinion, data: st.DataObject) -> None:
    """The SDK's client reads any turn in any other framing as the turn that it was."""
    turn = data.draw(sdk.any_turn, label="turn")

    sdk.agrees(turn.numbered(1), data.draw(sdk.any_framing.filter(sdk.can_read), label="framing"))


@EACH
def test_the_client_reads_some_quirks(sdk: SecondOpinion) -> None:
    """These layouts of compatible servers change nothing for the SDK's client."""
    turns = {name: sdk.turns[name] for name in sdk.quirk_turns}

    each(by_names(turns, with_quirks(sdk.quirks)), lambda turn, framing: sdk.agrees(turn.numbered(1), framing))
