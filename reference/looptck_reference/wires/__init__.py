"""The wires: providers' HTTP APIs, each a value of the protocol `Wire`."""

from __future__ import annotations

from looptck_reference.wires.anthropic_messages import ANTHROPIC_MESSAGES, MessagesWire
from looptck_reference.wires.anthropic_messages_stream import MessagesStream
from looptck_reference.wires.base import TurnStream, Wire
from looptck_reference.wires.openai_chat import OPENAI_CHAT, ChatWire
from looptck_reference.wires.openai_chat_stream import ChatStream
from looptck_reference.wires.openai_responses import OPENAI_RESPONSES, ResponsesWire
from looptck_reference.wires.openai_responses_stream import ResponsesStream
from looptck_reference.wires.sse import EventReader

__all__ = [
    "ANTHROPIC_MESSAGES",
    "OPENAI_CHAT",
    "OPENAI_RESPONSES",
    "ChatStream",
    "ChatWire",
    "EventReader",
    "MessagesStream",
    "MessagesWire",
    "ResponsesStream",
    "ResponsesWire",
    "TurnStream",
    "Wire",
]
