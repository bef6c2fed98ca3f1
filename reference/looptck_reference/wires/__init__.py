"""Providers' HTTP APIs, each a value of the protocol `Wire`."""

from __future__ import annotations

from looptck_reference.wires.base import TurnStream, Wire
from looptck_reference.wires.openai_chat import OPENAI_CHAT, ChatWire
from looptck_reference.wires.openai_chat_stream import ChatStream

__all__ = ["OPENAI_CHAT", "ChatStream", "ChatWire", "TurnStream", "Wire"]
