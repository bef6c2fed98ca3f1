"""Turns that are sent back with changes: the seam `append_turn`, and how wires echo turns."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from looptck_mutants.cells import CHAT, MESSAGES, RESPONSES
from looptck_mutants.parts import breaks
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.actions import Action
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.values import Json, ToolCall, Turn
from looptck_reference.wires import ChatWire, MessagesWire, ResponsesWire

CALLS = {"function_call", "tool_use"}
"""The types of items and blocks that are calls."""
LONG = 1000
"""The characters that are kept of long arguments."""


@breaks(
    "calls-are-echoed",
    collateral={"recorded-traffic-is-read-right": "the recordings contain a turn with two calls of one tool"},
)
class NumberedNames(ChatWire):
    """Appends numbers to the names of repeated tools when it sends calls back."""

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
    """Removes empty texts from the arguments when it sends calls back."""

    def echo(self, turn: Turn) -> list[Json]:
        return super().echo(replace(turn, calls=tuple(map(_anew, turn.calls))))


@breaks("arguments-are-echoed-as-given", cells=MESSAGES)
class EmptyObjectsAreLists(MessagesWire):
    """Sends empty objects in the arguments of calls back as lists, as a language with one type for both does."""

    def echo(self, turn: Turn) -> list[Json]:
        return super().echo(replace(turn, content=tuple(map(_with_lists, turn.content))))


@breaks("text-beside-calls-is-echoed")
class TextDropped(ChatWire):
    """Sends the calls of a turn back without its text."""

    def echo(self, turn: Turn) -> list[Json]:
        return super().echo(replace(turn, text=""))


@breaks("nothing-is-no-word", cells=CHAT)
class NullIsAWord(ChatWire):
    """Sends the word null back as the text of a turn that has none."""

    def echo(self, turn: Turn) -> list[Json]:
        return [{**message, "content": message["content"] or "null"} for message in super().echo(turn)]


@breaks("nothing-is-no-word", cells=CHAT)
class NoneIsAnAnswer(Loop):
    """Returns the word None where the answer has no text."""

    def stop(self, turn: Turn) -> Action:
        return super().stop(replace(turn, text=turn.text or "None"))


@breaks("turn-is-echoed-in-order", cells=MESSAGES)
class CallsLast(Loop):
    """Moves the calls of a turn to its end when it sends it back."""

    def append_turn(self, turn: Turn) -> None:
        ordered = sorted(turn.content, key=lambda piece: piece.get("type") in CALLS)
        super().append_turn(replace(turn, content=tuple(ordered)))


@breaks(
    "thinking-leads-its-turn",
    collateral={"turn-is-echoed-in-order": "the order includes all parts of a turn"},
    cells=MESSAGES,
)
class ThinkingLast(Loop):
    """Moves the thinking of a turn to its end when it sends it back."""

    def append_turn(self, turn: Turn) -> None:
        ordered = sorted(turn.content, key=lambda piece: "thinking" in piece.get("type", ""))
        super().append_turn(replace(turn, content=tuple(ordered)))


@breaks("empty-texts-are-not-sent-back", cells=MESSAGES)
class EmptyTextEchoed(MessagesWire):
    """Sends back an empty text block before a call."""

    def echo(self, turn: Turn) -> list[Json]:
        return [{"role": "assistant", "content": list(turn.content)}] if turn.content else []


@breaks("thinking-is-echoed", collateral={"turn-is-echoed-in-order": "thinking is a part of its turn"}, cells=MESSAGES)
class SignatureChanged(MessagesWire):
    """Removes the padding from signatures."""

    def echo(self, turn: Turn) -> list[Json]:
        return super().echo(replace(turn, content=tuple(map(_unpadded, turn.content))))


@breaks("redacted-thinking-is-echoed", cells=MESSAGES)
class RedactedDropped(MessagesWire):
    """Drops redacted thinking."""

    def echo(self, turn: Turn) -> list[Json]:
        return super().echo(_without(turn, lambda block: block.get("type") == "redacted_thinking"))


@breaks("reasoning-is-echoed", cells=RESPONSES)
class SilentReasoningDropped(ResponsesWire):
    """Drops reasoning that has no text."""

    def echo(self, turn: Turn) -> list[Json]:
        return super().echo(_without(turn, _says_nothing))


def _anew(call: ToolCall) -> ToolCall:
    """The call with changed arguments; invalid JSON is left unchanged."""
    try:
        return replace(call, arguments=json.dumps(json.loads(call.arguments, object_hook=_without_empty_texts)))
    except ValueError:
        return call


def _without_empty_texts(value: Json) -> Json:
    return {name: one for name, one in value.items() if one != ""}


def _with_lists(block: Json) -> Json:
    """The block; within the input of a call empty objects are lists, but the input itself is not."""
    if "input" not in block:
        return block
    return {**block, "input": {name: _as_list(value) for name, value in block["input"].items()}}


def _as_list(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _as_list(one) for name, one in value.items()} or []
    return [_as_list(one) for one in value] if isinstance(value, list) else value


def _without(turn: Turn, dropped: Callable[[Json], bool]) -> Turn:
    return replace(turn, content=tuple(piece for piece in turn.content if not dropped(piece)))


def _says_nothing(item: Json) -> bool:
    return item.get("type") == "reasoning" and not item.get("summary") and not item.get("content")


def _unpadded(block: Json) -> Json:
    return {**block, "signature": block["signature"].rstrip("=")} if "signature" in block else block


@breaks("earlier-thinking-stays", cells=MESSAGES)
class LatestThinkingAlone(MessagesWire):
    """Sends back the thinking of the latest turn, and that of no earlier one."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        latest = max((at for at, one in enumerate(history) if one["role"] == "assistant"), default=0)
        kept = [one if at >= latest else _thoughtless(one) for at, one in enumerate(history)]
        return super().request(agent, kept, stream=stream)


def _thoughtless(message: Json) -> Json:
    if message["role"] != "assistant" or not isinstance(message["content"], list):
        return message
    said = [block for block in message["content"] if block.get("type") not in ("thinking", "redacted_thinking")]
    return {**message, "content": said or message["content"]}
