"""Wires: how turns are encoded and requests are read and judged, one package for each provider's HTTP API."""

from __future__ import annotations

from looptck.wires.anthropic_messages import ANTHROPIC_MESSAGES
from looptck.wires.openai_chat import OPENAI_CHAT
from looptck.wires.openai_responses import OPENAI_RESPONSES
from looptck.wires.wire import Wire

WIRES: dict[str, Wire] = {wire.name: wire for wire in (OPENAI_CHAT, OPENAI_RESPONSES, ANTHROPIC_MESSAGES)}
"""Every wire that the provider speaks, by name."""

__all__ = ["WIRES", "Wire"]
