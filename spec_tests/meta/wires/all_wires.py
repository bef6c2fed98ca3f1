"""The encoders of all wires, for the tests that are the same for each of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product

import pytest

from looptck.values.framing import DEFAULT, Framing, Quirk
from looptck.values.turns import Turn
from meta.wires.chat.samples import CHAT
from meta.wires.chat.sdk import CHAT_SDK
from meta.wires.encoded import EncodedWire, SecondOpinion
from meta.wires.messages.encoded import MESSAGES
from meta.wires.messages.sdk import MESSAGES_SDK
from meta.wires.responses.encoded import RESPONSES
from meta.wires.responses.sdk import RESPONSES_SDK

ENCODED: tuple[EncodedWire, ...] = (CHAT, RESPONSES, MESSAGES)
OPINIONS: tuple[SecondOpinion, ...] = (CHAT_SDK, RESPONSES_SDK, MESSAGES_SDK)
EACH = pytest.mark.parametrize("wire", ENCODED, ids=lambda wire: wire.name)


def by_names(turns: Mapping[str, Turn], framings: Mapping[str, Framing]) -> dict[str, tuple[Turn, Framing]]:
    """Every turn in every framing, by both names."""
    return {f"{turn}-{framing}": (turns[turn], framings[framing]) for turn, framing in product(turns, framings)}


def with_quirks(quirks: Iterable[Quirk]) -> dict[str, Framing]:
    """The default framing with each of these quirks."""
    return {quirk: DEFAULT.but(quirk=quirk) for quirk in quirks}
