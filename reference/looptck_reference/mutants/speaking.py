"""The reference's wires with one of them, or the collectors of their streams, replaced by broken ones."""

from __future__ import annotations

from collections.abc import Mapping

from looptck_reference.driver import Driver
from looptck_reference.wires import (
    ChatStream,
    ChatWire,
    EventReader,
    MessagesStream,
    MessagesWire,
    ResponsesStream,
    ResponsesWire,
    Wire,
)

NAMES = {"chat": "openai-chat", "responses": "openai-responses", "messages": "anthropic-messages"}


def speaking(**wires: Wire) -> Mapping[str, Wire]:
    """With other wires: `chat`, `responses`, `messages`."""
    return {**Driver.wires, **{NAMES[name]: wire for name, wire in wires.items()}}


def streaming(
    *,
    chat: type[ChatStream] = ChatStream,
    responses: type[ResponsesStream] = ResponsesStream,
    messages: type[MessagesStream] = MessagesStream,
    cutter: type[EventReader] = EventReader,
) -> Mapping[str, Wire]:
    """With other collectors, or with another reader of lines for all three."""

    class Chat(ChatWire):
        reader = cutter

        def stream(self) -> ChatStream:
            return chat()

    class Responses(ResponsesWire):
        reader = cutter

        def stream(self) -> ResponsesStream:
            return responses(self)

    class Messages(MessagesWire):
        reader = cutter

        def stream(self) -> MessagesStream:
            return messages(self)

    return speaking(chat=Chat(), responses=Responses(), messages=Messages())
