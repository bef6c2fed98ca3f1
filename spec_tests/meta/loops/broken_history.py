"""Broken loops whose next request does not carry the turn, or its results, as it should."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from looptck_reference.driver import Driver
from looptck_reference.loop import Loop
from looptck_reference.values import Json, ToolCall, ToolResult, Turn
from looptck_reference.wires import MessagesWire, ResponsesWire
from meta.loops.speaking import speaking

TEXT = {"text", "message"}
"""The kinds of pieces that hold text: a block of one wire, an item of another."""


class OneMessageEach(Driver):
    """Sends each result in a user message of its own: `results-share-one-message`."""

    class Wire(MessagesWire):
        def results(self, results: Sequence[ToolResult]) -> list[Json]:
            return [{"role": "user", "content": [self.result(result)]} for result in results]

    wires = speaking(messages=Wire())


class TextFirst(Driver):
    """Says how many results there are, where there are several, before it gives them: `results-come-first`."""

    class Wire(MessagesWire):
        def results(self, results: Sequence[ToolResult]) -> list[Json]:
            (message,) = super().results(results)
            told = {"type": "text", "text": f"{len(results)} results:"}
            return [{**message, "content": [told, *message["content"]] if len(results) > 1 else message["content"]}]

    wires = speaking(messages=Wire())


class TextDropped(Driver):
    """Keeps the calls of a turn and forgets its text: `text-beside-calls-is-echoed`, `turn-is-echoed-in-order`."""

    class loop(Loop):  # noqa: N801
        def append_turn(self, turn: Turn) -> None:
            pieces = tuple(piece for piece in turn.content if piece.get("type") not in TEXT)
            super().append_turn(replace(turn, text="", content=pieces))


class ThinkingDropped(Driver):
    """Forgets what the model thought before its calls: `thinking-is-echoed`."""

    class Wire(MessagesWire):
        def echo(self, turn: Turn) -> list[Json]:
            return super().echo(_without(turn, "thinking"))

    wires = speaking(messages=Wire())


class SignatureChanged(Driver):
    """Takes the padding off signatures, which nobody reads anyway: `thinking-is-echoed`."""

    class Wire(MessagesWire):
        def echo(self, turn: Turn) -> list[Json]:
            return super().echo(replace(turn, content=tuple(map(_unpadded, turn.content))))

    wires = speaking(messages=Wire())


class RedactedDropped(Driver):
    """Forgets thinking that it cannot read: `redacted-thinking-is-echoed`."""

    class Wire(MessagesWire):
        def echo(self, turn: Turn) -> list[Json]:
            return super().echo(_without(turn, "redacted_thinking"))

    wires = speaking(messages=Wire())


class ReasoningDropped(Driver):
    """Forgets the reasoning that led to the calls: `reasoning-is-echoed`."""

    class Wire(ResponsesWire):
        def echo(self, turn: Turn) -> list[Json]:
            return super().echo(_without(turn, "reasoning"))

    wires = speaking(responses=Wire())


class CallsNotEchoed(Driver):
    """Sends the outputs of calls without the calls: `calls-are-echoed`."""

    class Wire(ResponsesWire):
        def echo(self, turn: Turn) -> list[Json]:
            return super().echo(_without(turn, "function_call"))

    wires = speaking(responses=Wire())


class ByItemId(Driver):
    """Takes the id of a call's item for the call's own: `results-carry-their-call-ids`."""

    class Wire(ResponsesWire):
        def call(self, item: Json) -> ToolCall:
            return replace(super().call(item), id=item["id"])

    wires = speaking(responses=Wire())


class HostedDispatched(Driver):
    """Takes the calls of the service's own tools for calls to it: `hosted-tools-are-never-dispatched`."""

    class loop(Loop):  # noqa: N801
        def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
            hosted = [piece for piece in turn.content if piece["type"] in HOSTED]
            return [*turn.calls, *(ToolCall(piece["id"], piece.get("name", "web_search"), "{}") for piece in hosted)]


HOSTED = {"server_tool_use", "mcp_tool_use", "web_search_call", "mcp_call"}


def _without(turn: Turn, kind: str) -> Turn:
    return replace(turn, content=tuple(piece for piece in turn.content if piece.get("type") != kind))


def _unpadded(block: dict[str, Any]) -> Json:
    return {**block, "signature": block["signature"].rstrip("=")} if "signature" in block else block
