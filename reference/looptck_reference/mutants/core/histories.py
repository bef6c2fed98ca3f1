"""Turns that go back otherwise than they came: the seam `append_turn`, and how wires echo."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from looptck_reference.loop import Loop
from looptck_reference.mutants.mutant import MESSAGES, RESPONSES, Mutant, because
from looptck_reference.mutants.speaking import speaking
from looptck_reference.values import Json, ToolCall, Turn
from looptck_reference.wires import ChatWire, MessagesWire, ResponsesWire

CALLS = {"function_call", "tool_use"}
"""The kinds of pieces that are calls: an item of one wire, a block of another."""


class NumberedNames(Mutant):
    """Numbers the calls of one tool in the names that it sends back: `calls-are-echoed`."""

    breaks = ("calls-are-echoed",)
    also = because("a turn with two calls of one tool was recorded", "recorded-traffic-is-read-right")

    class Wire(ChatWire):
        def echo(self, turn: Turn) -> list[Json]:
            counted = Counter[str]()
            calls: list[ToolCall] = []
            for call in turn.calls:
                counted[call.name] += 1
                several = counted[call.name] > 1
                calls.append(replace(call, name=f"{call.name}_{counted[call.name]}") if several else call)
            return super().echo(replace(turn, calls=tuple(calls)))

    wires = speaking(chat=Wire())


class EmptyTextsLeftOut(Mutant):
    """Leaves empty texts out of the objects in the arguments that it sends back: `arguments-are-echoed-as-given`."""

    breaks = ("arguments-are-echoed-as-given",)

    class Wire(ChatWire):
        def echo(self, turn: Turn) -> list[Json]:
            return super().echo(replace(turn, calls=tuple(map(_anew, turn.calls))))

    wires = speaking(chat=Wire())


class TextDropped(Mutant):
    """Keeps the calls of a turn and forgets its text: `text-beside-calls-is-echoed`."""

    breaks = ("text-beside-calls-is-echoed",)

    class Wire(ChatWire):
        def echo(self, turn: Turn) -> list[Json]:
            return super().echo(replace(turn, text=""))

    wires = speaking(chat=Wire())


class CallsLast(Mutant):
    """Sends the calls of a turn back behind all else: `turn-is-echoed-in-order`."""

    breaks = ("turn-is-echoed-in-order",)
    cells = MESSAGES

    class loop(Loop):  # noqa: N801  the driver's attribute
        def append_turn(self, turn: Turn) -> None:
            ordered = sorted(turn.content, key=lambda piece: piece.get("type") in CALLS)
            super().append_turn(replace(turn, content=tuple(ordered)))


class ThinkingLast(Mutant):
    """Sends the thinking of a turn back behind all else: `thinking-leads-its-turn`."""

    breaks = ("thinking-leads-its-turn",)
    also = because("the order of a turn is that of all its pieces", "turn-is-echoed-in-order")
    cells = MESSAGES

    class loop(Loop):  # noqa: N801
        def append_turn(self, turn: Turn) -> None:
            ordered = sorted(turn.content, key=lambda piece: "thinking" in piece.get("type", ""))
            super().append_turn(replace(turn, content=tuple(ordered)))


class EmptyTextEchoed(Mutant):
    """Sends an empty block of text back that stood before a call: `no-request-is-refused`."""

    breaks = ("no-request-is-refused",)
    cells = MESSAGES

    class Wire(MessagesWire):
        def echo(self, turn: Turn) -> list[Json]:
            return [{"role": "assistant", "content": list(turn.content)}] if turn.content else []

    wires = speaking(messages=Wire())


class SilentThinkingDropped(Mutant):
    """Forgets thinking that has a signature and no words: `thinking-is-echoed`."""

    breaks = ("thinking-is-echoed",)
    cells = MESSAGES

    class Wire(MessagesWire):
        def echo(self, turn: Turn) -> list[Json]:
            return super().echo(_without(turn, lambda block: block.get("thinking") == ""))

    wires = speaking(messages=Wire())


class SignatureChanged(Mutant):
    """Takes the padding off signatures, which nobody reads anyway: `thinking-is-echoed`."""

    breaks = ("thinking-is-echoed",)
    also = because("thinking is a piece of its turn", "turn-is-echoed-in-order")
    cells = MESSAGES

    class Wire(MessagesWire):
        def echo(self, turn: Turn) -> list[Json]:
            return super().echo(replace(turn, content=tuple(map(_unpadded, turn.content))))

    wires = speaking(messages=Wire())


class RedactedDropped(Mutant):
    """Forgets thinking that it cannot read: `redacted-thinking-is-echoed`."""

    breaks = ("redacted-thinking-is-echoed",)
    cells = MESSAGES

    class Wire(MessagesWire):
        def echo(self, turn: Turn) -> list[Json]:
            return super().echo(_without(turn, lambda block: block.get("type") == "redacted_thinking"))

    wires = speaking(messages=Wire())


class SilentReasoningDropped(Mutant):
    """Forgets reasoning that has no words: `reasoning-is-echoed`."""

    breaks = ("reasoning-is-echoed",)
    cells = RESPONSES

    class Wire(ResponsesWire):
        def echo(self, turn: Turn) -> list[Json]:
            return super().echo(_without(turn, _says_nothing))

    wires = speaking(responses=Wire())


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
