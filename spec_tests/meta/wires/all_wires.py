"""The encoders of all wires, for the tests that are the same for each of them."""

from __future__ import annotations

import pytest

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
