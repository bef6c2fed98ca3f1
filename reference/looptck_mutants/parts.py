"""The parts of the reference that a mutant of its loop may replace, and drivers with replaced parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from looptck_mutants.breaking import Breaks, Holder, holding
from looptck_mutants.cells import CHAT
from looptck_reference.http.exchange import Exchange
from looptck_reference.http.spans import RunSpans, Tracing
from looptck_reference.kit.driver import Driver
from looptck_reference.kit.servers import Servers
from looptck_reference.kit.team import Team
from looptck_reference.loop.loop import Loop
from looptck_reference.mcp import McpClient
from looptck_reference.mcp.metadata import Metadata
from looptck_reference.prompty.invoke import Invoker
from looptck_reference.prompty.prompts import Loader
from looptck_reference.vocabulary.tools import Tool
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

__all__ = ["asking", "breaks", "speaking", "streaming"]

NAMES = {"chat": "openai-chat", "responses": "openai-responses", "messages": "anthropic-messages"}


def speaking(**wires: Wire) -> Mapping[str, Wire]:
    """The driver's wires, with these replaced: `chat`, `responses`, `messages`."""
    return {**Driver.wires, **{NAMES[name]: wire for name, wire in wires.items()}}


def streaming(
    *,
    chat: type[ChatStream] = ChatStream,
    responses: type[ResponsesStream] = ResponsesStream,
    messages: type[MessagesStream] = MessagesStream,
    cutter: type[EventReader] = EventReader,
) -> Mapping[str, Wire]:
    """The driver's wires with these stream collectors, or with this line reader for all three."""

    class Chat(ChatWire):
        reader = cutter

        def stream(self) -> ChatStream:
            return chat()

    class Responses(ResponsesWire):
        reader = cutter

        def stream(self) -> ResponsesStream:
            return responses(self.decode)

    class Messages(MessagesWire):
        reader = cutter

        def stream(self) -> MessagesStream:
            return messages(self.turn)

    return speaking(chat=Chat(), responses=Responses(), messages=Messages())


def asking(kind: type[Exchange]) -> type[Invoker]:
    """An invoker whose runs use this class of exchange.

    The handling of a failed request is not a step of the loop, so the exchange is replaced.
    """

    class Asking(Invoker):
        exchange = kind

    return Asking


def _speaking(name: str) -> Holder:
    """A holder for variants of this wire."""
    return lambda variant: _with(variant, speaking(**{name: variant()}))


def _streaming(name: str) -> Holder:
    """A holder for variants of a stream collector, or of the line reader."""
    return lambda variant: _with(variant, streaming(**{name: variant}))


def _with(variant: type[Any], wires: Mapping[str, Wire]) -> type[Any]:
    return type(variant.__name__, (Driver,), {"wires": wires, "__module__": variant.__module__})


breaks = Breaks(
    Driver,
    cells=CHAT,
    parts={
        Loop: holding(Driver, "loop"),
        Tool: holding(Driver, "tool"),
        Invoker: holding(Driver, "invoker"),
        Team: holding(Driver, "team"),
        Loader: holding(Invoker, "loader"),
        Exchange: holding(Invoker, "exchange"),
        Tracing: holding(Driver, "tracing"),
        Servers: holding(Driver, "servers"),
        McpClient: holding(Servers, "client"),
        Metadata: holding(McpClient, "described"),
        RunSpans: holding(Tracing, "inside"),
        ChatWire: _speaking("chat"),
        ResponsesWire: _speaking("responses"),
        MessagesWire: _speaking("messages"),
        ChatStream: _streaming("chat"),
        ResponsesStream: _streaming("responses"),
        MessagesStream: _streaming("messages"),
        EventReader: _streaming("cutter"),
    },
)
"""The decorator of the mutants of the loop that `looptck_reference` is."""
