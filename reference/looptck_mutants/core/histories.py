"""Turns that go back otherwise than they came: the seam `append_turn`, and how wires echo."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from looptck_mutants.cells import MESSAGES, RESPONSES
from looptck_mutants.parts import breaks
from looptck_reference.loop.loop import Loop
from looptck_reference.loop.values import Json, ToolCall, Turn
from looptck_reference.wires import ChatWire, MessagesWire, ResponsesWire

CALLS = {"function_call", "tool_use"}
"""The kinds of pieces that are calls: an item of one wire, a block of another."""


@breaks(
    "calls-are-echoed", collateral={"recorded-traffic-is-read-right": "a turn with two calls of one tool was recorded"}
)
class NumberedNames(ChatWire):
    """Numbers the calls of one tool in the names that it sends back."""

    def echo(self, turn: Turn) -> list[Json]:
        counted = Counter[str]()
        calls: list[ToolCall] = []
        for call in turn.calls:
            counted[call.name] += 1
            several = counted[call.name] > 1
            calls.append(replace(call, name=f"{call.name}_{counted[call.name]}") if several else call)
        return super().echo(replace(turn, calls=tuple(calls)))


@breaks("arguments-are-echoed-as-given")
class EmptyTextsLeftOut(ChatWire):
    """Leaves empty texts out of the objects in the arguments that it sends back."""

    def echo(self, turn: Turn) -> list[Json]:
        return super().echo(replace(turn, calls=tuple(map(_anew, turn.calls))))


@breaks("text-beside-calls-is-echoed")
class TextDropped(ChatWire):
    """Keeps the calls of a turn and forgets its text."""

    def echo(self, turn: Turn) -> list[Json]:
        return super().echo(replace(turn, text=""))


@breaks("turn-is-echoed-in-order", cells=MESSAGES)
class CallsLast(Loop):
    """Sends the calls of a turn back behind all else."""

    def append_turn(self, turn: Turn) -> None:
        ordered = sorted(turn.content, key=lambda piece: piece.get("type") in CALLS)
        super().append_turn(replace(turn, content=tuple(ordered)))


@breaks(
    "thinking-leads-its-turn",
    collateral={"turn-is-echoed-in-order": "the order of a turn is that of all its pieces"},
    cells=MESSAGES,
)
class ThinkingLast(Loop):
    """Sends the thinking of a turn back behind all else."""

    def append_turn(self, turn: Turn) -> None:
        ordered = sorted(turn.content, key=lambda piece: "thinking" in piece.get("type", ""))
        super().append_turn(replace(turn, content=tuple(ordered)))


@breaks("no-request-is-refused", cells=MESSAGES)
class EmptyTextEchoed(MessagesWire):
    """Sends an empty block of text back that stood before a call."""

    def echo(self, turn: Turn) -> list[Json]:
        return [{"role": "assistant", "content": list(turn.content)}] if turn.content else []


@breaks("thinking-is-echoed", cells=MESSAGES)
class SilentThinkingDropped(MessagesWire):
    """Forgets thinking that has a signature and no words."""

    def echo(self, turn: Turn) -> list[Json]:
        return super().echo(_without(turn, lambda block: block.get("thinking") == ""))


@breaks("thinking-is-echoed", collateral={"turn-is-echoed-in-order": "thinking is a piece of its turn"}, cells=MESSAGES)
class SignatureChanged(MessagesWire):
    """Takes the padding off signatures, which nobody reads anyway."""

    def echo(self, turn: Turn) -> list[Json]:
        return super().echo(replace(turn, content=tuple(map(_unpadded, turn.content))))


@breaks("redacted-thinking-is-echoed", cells=MESSAGES)
class RedactedDropped(MessagesWire):
    """Forgets thinking that it cannot read."""

    def echo(self, turn: Turn) -> list[Json]:
        return super().echo(_without(turn, lambda block: block.get("type") == "redacted_thinking"))


@breaks("reasoning-is-echoed", cells=RESPONSES)
class SilentReasoningDropped(ResponsesWire):
    """Forgets reasoning that has no words."""

    def echo(self, turn: Turn) -> list[Json]:
        return super().echo(_without(turn, _says_nothing))


def _anew(call: ToolCall) -> ToolCall:
    """Arguments that are no JSON stay as they are."""
    try:
        return replace(call, arguments=json.dumps(json.loads(call.arguments, object_hook=_without_empty_texts)))
    except ValueError:
        return call


def _without_empty_texts(value: Json) -> Json:
    return {name: one for name, one in value.items() if one != ""}


def _without(turn: Turn, dropped: Callable[[Json], bool]) -> Turn:
    return replace(turn, content=tuple(piece for piece in turn.content if not dropped(piece)))


def _says_nothing(item: Json) -> bool:
    return item.get("type") == "reasoning" and not item.get("summary") and not item.get("content")


def _unpadded(block: Json) -> Json:
    return {**block, "signature": block["signature"].rstrip("=")} if "signature" in block else block
