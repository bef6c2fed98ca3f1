"""Seams of the streams: where a piece goes and what ends a stream is one small method each.

Each of these classes has one bug, which its docstring states; each test shows it beside the reference.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
import respx

from looptck_reference import (
    ChatStream,
    ChatWire,
    EventReader,
    MessagesStream,
    MessagesWire,
    ResponsesStream,
    ResponsesWire,
    Stop,
    ToolCall,
    Wire,
)
from looptck_reference.loop.values import Json
from looptck_reference.wires.events import EventStream
from meta.reference.reference_driving import ran, told
from meta.reference.reference_wires import CHAT, MESSAGES, PARIS, RESPONSES, SIDES, Side

ONE, TWO = ToolCall("a", "weather", '{"n":1}'), ToolCall("b", "weather", '{"n":2}')


class MergingCalls(ChatStream):
    """Adds each piece to the latest call."""

    def call_for(self, index: Any, call_id: str) -> Any:
        return super().call_for(index, call_id) if call_id else self._calls[-1]


class MergingBlocks(MessagesStream):
    """Adds each piece to the latest block."""

    def block_at(self, index: Any) -> Any:
        return self.blocks[-1]


class MergingItems(ResponsesStream):
    """Adds each piece to the latest item; to show, the last event must not put it right."""

    def item_for(self, index: Any, item_id: Any) -> Any:
        return self.items[-1]

    def output(self) -> list[Json]:
        return self.streamed()


def parses(pieces: list[str]) -> bool:
    """Whether these pieces are JSON already."""
    try:
        json.loads("".join(pieces))
    except ValueError:
        return False
    return True


class HastyCalls(ChatStream):
    """Takes the first arguments that parse."""

    def add_call(self, delta: Json) -> None:
        if not self._calls or not parses(self._calls[-1].arguments):
            super().add_call(delta)


class HastyBlocks(MessagesStream):
    """Takes the first arguments that parse."""

    def add_input(self, block: Any, piece: str) -> None:
        if not parses(block.input):
            super().add_input(block, piece)


class HastyItems(ResponsesStream):
    """Takes the first arguments that parse; to show, what says that they are whole must not put it right."""

    def add_arguments(self, item: Any, piece: str) -> None:
        if not parses(item.arguments):
            super().add_arguments(item, piece)

    def take(self, event: Json) -> str:
        return "" if event["type"].endswith(".done") else super().take(event)

    def output(self) -> list[Json]:
        return self.streamed()


class Deaf(EventStream):
    """Passes over errors."""

    def refuse_error(self, event: Json) -> None:
        pass


class DeafCalls(Deaf, ChatStream):
    """As it says."""


class DeafBlocks(Deaf, MessagesStream):
    """As it says."""


class DeafItems(Deaf, ResponsesStream):
    """As it says."""


class Credulous(EventStream):
    """Takes the end of the bytes for the end of the stream."""

    def whole(self) -> bool:
        return True


class CredulousCalls(Credulous, ChatStream):
    """As it says."""


class CredulousBlocks(Credulous, MessagesStream):
    """As it says."""


class CredulousItems(Credulous, ResponsesStream):
    """As it says."""


class Unlined(EventReader):
    """Takes U+2028 for the end of a line."""

    def lines(self, text: bytes) -> list[bytes]:
        return [line.encode() for line in text.decode().splitlines()]


def chat(collector: Any) -> Wire:
    """Chat Completions with another collector."""

    class Broken(ChatWire):
        def stream(self) -> ChatStream:
            return collector()  # type: ignore[no-any-return]

    return Broken()


def messages(collector: Any) -> Wire:
    """Messages with another collector."""

    class Broken(MessagesWire):
        def stream(self) -> MessagesStream:
            return collector(self.turn)  # type: ignore[no-any-return]

    return Broken()


def responses(collector: Any) -> Wire:
    """Responses with another collector."""

    class Broken(ResponsesWire):
        def stream(self) -> ResponsesStream:
            return collector(self.decode)  # type: ignore[no-any-return]

    return Broken()


def reading(wire: Wire, reader: type[EventReader]) -> Wire:
    """The wire with another reader."""
    made: Wire = type("Reading", (type(wire),), {"reader": reader})()
    return made


@respx.mock
@pytest.mark.parametrize(
    ("side", "broken"),
    [(CHAT, chat(MergingCalls)), (MESSAGES, messages(MergingBlocks)), (RESPONSES, responses(MergingItems))],
    ids=lambda one: getattr(one, "name", ""),
)
def test_interleaved_calls_can_be_merged(side: Side, broken: Wire) -> None:
    """The seams that say which part a piece belongs to."""
    head, tail = side.around("", [ONE, TWO], Stop.CALLS)
    lanes = side.lanes("", [ONE, TWO], lambda text: [text[:3], text[3:]])
    body = side.sse(*head, *[event for pair in zip(*lanes, strict=True) for event in pair], *tail)

    assert [{"n": 1}, {"n": 2}] == ran(side, body)
    assert [{"n": 1}, {"n": 2}] != ran(side, body, wire=broken)


@respx.mock
@pytest.mark.parametrize(
    ("side", "broken"),
    [(CHAT, chat(HastyCalls)), (MESSAGES, messages(HastyBlocks)), (RESPONSES, responses(HastyItems))],
    ids=lambda one: getattr(one, "name", ""),
)
def test_arguments_can_be_parsed_too_early(side: Side, broken: Wire) -> None:
    """The seams that take a piece of arguments: a whole object with more behind it is no object."""
    said = '{"n":1}}'
    events = side.events("", ONE, cut=lambda _: [said[:7], said[7:]])
    body = side.sse(*events)
    if side is RESPONSES:
        body = body.replace(rb'"arguments": "{\"n\":1}"', rb'"arguments": "{\"n\":1}}"')

    assert [] == ran(side, body)
    assert [{"n": 1}] == ran(side, body, wire=broken)


@respx.mock
@pytest.mark.parametrize(
    ("side", "broken"),
    [(CHAT, chat(DeafCalls)), (MESSAGES, messages(DeafBlocks)), (RESPONSES, responses(DeafItems))],
    ids=lambda one: getattr(one, "name", ""),
)
def test_errors_can_be_swallowed(side: Side, broken: Wire) -> None:
    """The seam `refuse_error`: an error in a stream that is whole but for it."""
    events = side.events("", PARIS)
    body = side.sse(*events[:1], side.error, *events[1:])

    assert [] == ran(side, body)
    assert [{"city": "Paris"}] == ran(side, body, wire=broken)


@respx.mock
@pytest.mark.parametrize(
    ("side", "broken"),
    [(CHAT, chat(CredulousCalls)), (MESSAGES, messages(CredulousBlocks)), (RESPONSES, responses(CredulousItems))],
    ids=lambda one: getattr(one, "name", ""),
)
def test_the_end_of_the_bytes_can_be_taken_for_success(side: Side, broken: Wire) -> None:
    """The seam `whole`."""
    body = side.sse(*side.events("18 °C")[:-1])

    assert "stream" == told(side, body)["reason"]
    assert "18 °C" == told(side, body, wire=broken)["text"]


@respx.mock
@pytest.mark.parametrize("side", SIDES, ids=lambda side: side.name)
def test_events_can_be_cut_at_other_characters(side: Side) -> None:
    """The seam `reader`."""
    body = side.sse(*side.events("18\u2028°C", cut=lambda text: [text]))

    assert "18\u2028°C" == told(side, body)["text"]
    assert "stream" == told(side, body, wire=reading(side.wire, Unlined))["reason"]
