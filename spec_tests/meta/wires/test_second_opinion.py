"""The official SDKs as second opinion on the encoders: their models know each member, their clients read the turn."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptck.values.framing import DEFAULT, Quirk
from meta.kit.steady import STEADY
from meta.wires.all_wires import OPINIONS
from meta.wires.encoded import SecondOpinion

EACH = pytest.mark.parametrize("sdk", OPINIONS, ids=lambda sdk: sdk.wire.name)


@pytest.mark.parametrize(
    ("sdk", "turn"),
    [pytest.param(s, t, id=f"{s.wire.name}-{t}") for s in OPINIONS for t in (*s.turns, *s.plain_only)],
)
def test_the_models_know_every_body(sdk: SecondOpinion, turn: str) -> None:
    """Every member of the plain reply is a field of the SDK's model of it, and its value fits."""
    numbered = {**sdk.turns, **sdk.plain_only}[turn].numbered(1)

    assert not sdk.undeclared_in_body(sdk.wire.body(numbered, 1, DEFAULT))


@pytest.mark.parametrize(
    ("sdk", "turn", "framing"),
    [
        pytest.param(sdk, turn, framing, id=f"{sdk.wire.name}-{turn}-{framing}")
        for sdk in OPINIONS
        for turn, framing in product(sdk.turns, sdk.modelled)
    ],
)
def test_the_models_know_every_event(sdk: SecondOpinion, turn: str, framing: str) -> None:
    """Every member of every event is a field of the SDK's model of it, and its value fits; the body's are as well."""
    numbered = sdk.turns[turn].numbered(1)
    known = sdk.modelled[framing].but(unknown_fields=False, unknown_events=False)

    assert not sdk.undeclared_in_events(sdk.wire.events(numbered, 1, known))
    assert not sdk.undeclared_in_body(sdk.wire.body(numbered, 1, known))


@EACH
@STEADY
@given(st.data())
def test_the_models_know_anything(sdk: SecondOpinion, data: st.DataObject) -> None:
    """The same for any turn in any framing."""
    numbered = data.draw(sdk.any_turn, label="turn").numbered(1)
    known = data.draw(sdk.any_framing, label="framing").but(unknown_fields=False, unknown_events=False)

    assert not sdk.undeclared_in_events(sdk.wire.events(numbered, 1, known))
    assert not sdk.undeclared_in_body(sdk.wire.body(numbered, 1, known))


@pytest.mark.parametrize(
    ("sdk", "turn", "framing"),
    [
        pytest.param(sdk, turn, framing, id=f"{sdk.wire.name}-{turn}-{framing}")
        for sdk in OPINIONS
        for turn, framing in product(sdk.turns, sdk.read)
    ],
)
def test_the_client_reads_a_named_framing(sdk: SecondOpinion, turn: str, framing: str) -> None:
    """The SDK's client reads any turn in any named framing as the turn that it was."""
    sdk.agrees(sdk.turns[turn].numbered(1), sdk.read[framing])


@EACH
@STEADY
@given(st.data())
def test_the_client_reads_any_framing(sdk: SecondOpinion, data: st.DataObject) -> None:
    """The SDK's client reads any turn in any other framing as the turn that it was."""
    turn = data.draw(sdk.any_turn, label="turn")

    sdk.agrees(turn.numbered(1), data.draw(sdk.any_framing.filter(sdk.can_read), label="framing"))


@pytest.mark.parametrize(
    ("sdk", "turn", "quirk"),
    [
        pytest.param(sdk, turn, quirk, id=f"{sdk.wire.name}-{turn}-{quirk}")
        for sdk in OPINIONS
        for turn, quirk in product(sdk.quirk_turns, sdk.quirks)
    ],
)
def test_the_client_reads_some_quirks(sdk: SecondOpinion, turn: str, quirk: Quirk) -> None:
    """These layouts of compatible servers change nothing for the SDK's client."""
    sdk.agrees(sdk.turns[turn].numbered(1), DEFAULT.but(quirk=quirk))
