"""The judges of all wires, for the tests that are the same for each of them."""

from __future__ import annotations

import pytest

from meta.judge.chat.judged import CHAT
from meta.judge.judged import JudgedWire
from meta.judge.messages.judged import MESSAGES
from meta.judge.responses.judged import RESPONSES

JUDGED: tuple[JudgedWire, ...] = (CHAT, RESPONSES, MESSAGES)
EACH = pytest.mark.parametrize("wire", JUDGED, ids=lambda wire: wire.name)
