"""Reading what a request offers: whether a tool is strict follows from the service's default."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.wires import anthropic_messages, openai_chat, openai_responses
from looptck.wires.wire import Wire

SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}
CHAT = openai_chat.OPENAI_CHAT
MESSAGES = anthropic_messages.ANTHROPIC_MESSAGES
RESPONSES = openai_responses.OPENAI_RESPONSES


def strict(wire: Wire, flag: dict[str, Any]) -> bool:
    """Whether a tool with this flag, or with none, is read as strict."""
    function = {"name": "ping", **flag}
    offers = {
        CHAT.name: {"type": "function", "function": {**function, "parameters": SCHEMA}},
        MESSAGES.name: {**function, "input_schema": SCHEMA},
        RESPONSES.name: {"type": "function", **function, "parameters": SCHEMA},
    }
    (offered,) = wire.service(True).read({"tools": [offers[wire.name]]}).tools
    return offered.strict


@pytest.mark.parametrize("wire", [CHAT, MESSAGES, RESPONSES], ids=lambda wire: wire.name)
def test_a_flag_is_read(wire: Wire) -> None:
    """A tool is what its flag says."""
    assert [True, False] == [strict(wire, {"strict": flag}) for flag in (True, False)]


@pytest.mark.parametrize(("wire", "expected"), [(CHAT, False), (MESSAGES, False), (RESPONSES, True)])
@pytest.mark.parametrize("flag", [{}, {"strict": None}], ids=["none", "null"])
def test_no_flag_is_read(wire: Wire, expected: bool, flag: dict[str, Any]) -> None:
    """Without a flag a tool is strict on Responses alone."""
    assert expected == strict(wire, flag)
