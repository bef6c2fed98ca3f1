"""Streams of Messages, assembled wrongly: the seams of `MessagesStream`, from a block's start to the stop reason."""

from __future__ import annotations

from typing import Any

from looptck_mutants.cells import MESSAGES_STREAM
from looptck_mutants.core.streams_chat import A_FRAMING
from looptck_mutants.parts import breaks
from looptck_reference.vocabulary.errors import MalformedReply, StreamBroken
from looptck_reference.vocabulary.values import Delta, Json, Turn
from looptck_reference.wires import MessagesStream
from looptck_reference.wires.anthropic_messages_stream import PartialBlock

KNOWN_EVENTS = {
    "content_block_delta",
    "content_block_start",
    "content_block_stop",
    "message_delta",
    "message_start",
    "message_stop",
    "ping",
}


@breaks("interleaved-blocks-stay-apart", cells=MESSAGES_STREAM)
class MessagesBlocksMerged(MessagesStream):
    """Appends every piece of input to the latest block."""

    def add_input(self, block: PartialBlock, piece: str) -> None:
        super().add_input(self.blocks[-1], piece)


@breaks("block-indices-may-have-gaps", cells=MESSAGES_STREAM)
class IndicesArePlaces(MessagesStream):
    """Takes the index of a delta for the place of its block, and loses it where no block has begun."""

    def block_at(self, index: Any) -> PartialBlock:
        begun = isinstance(index, int) and index < len(self.blocks)
        return super().block_at(index) if begun else PartialBlock(0, {"type": "text"})


@breaks("repeated-events-change-nothing", cells=MESSAGES_STREAM)
class StartsAddUp(MessagesStream):
    """Counts the input once for each start of a message."""

    starts = 0

    def begin_message(self, message: Json) -> str:
        self.starts += 1
        return super().begin_message(message)

    def turn(self) -> Turn:
        if "input_tokens" in self.usage:
            self.usage["input_tokens"] *= self.starts
        return super().turn()


@breaks("repeated-events-change-nothing", cells=MESSAGES_STREAM)
class EachStopIsACall(MessagesStream):
    """Takes each stop of a block for the end of another call."""

    def take(self, event: Json) -> str:
        index = event.get("index")
        if event.get("type") == "content_block_stop" and isinstance(index, int):
            block = self.block_at(index)
            ended = self.__dict__.setdefault("ended", set())
            self.blocks += [block] if index in ended else []
            ended.add(index)
        return super().take(event)


@breaks("hosted-input-stays-apart", cells=MESSAGES_STREAM)
class HostedInputIsTheCalls(MessagesStream):
    """Appends the input of a tool of the service to that of the call before it."""

    def add_input(self, block: PartialBlock, piece: str) -> None:
        called = [one for one in self.blocks if one.head["type"] == "tool_use"]
        super().add_input(block if block in called or not called else called[-1], piece)


@breaks("pings-are-skipped", collateral=A_FRAMING, cells=MESSAGES_STREAM)
class PingEndsABlock(MessagesStream):
    """Drops the rest of a block after a ping inside it."""

    ended: PartialBlock | None = None

    def take(self, event: Json) -> str:
        if event["type"] == "ping" and self.blocks and self.blocks[-1].input:
            self.ended = self.blocks[-1]
        return super().take(event)

    def add_input(self, block: PartialBlock, piece: str) -> None:
        if block is not self.ended:
            super().add_input(block, piece)


@breaks("unknown-events-are-skipped", collateral=A_FRAMING, cells=MESSAGES_STREAM)
class UnknownEventsRefused(MessagesStream):
    """Fails on an event of an unknown type."""

    def take(self, event: Json) -> str:
        if event["type"] not in KNOWN_EVENTS:
            raise StreamBroken(f"an event of the stream has the unknown type {event['type']}")
        return super().take(event)


@breaks("last-message-delta-decides", collateral=A_FRAMING, cells=MESSAGES_STREAM)
class FirstMessageDeltaDecides(MessagesStream):
    """Ignores every message_delta except the first."""

    deltas = 0

    def take(self, event: Json) -> str:
        self.deltas += event["type"] == "message_delta"
        return "" if event["type"] == "message_delta" and self.deltas > 1 else super().take(event)


@breaks("no-argument-delta-is-an-empty-object", cells=MESSAGES_STREAM)
class NoDeltaNoCall(MessagesStream):
    """Drops a call without input deltas."""

    def whole(self) -> bool:
        self.blocks = [block for block in self.blocks if block.input or not _is_bare_call(block)]
        return super().whole()


@breaks("text-at-start-is-kept", cells=MESSAGES_STREAM)
class TextAtStartDropped(MessagesStream):
    """Ignores text and thinking in the start of a block."""

    def begin(self, index: Any, head: Json) -> str:
        kind = head["type"]
        return super().begin(index, {**head, kind: ""} if kind in {"text", "thinking"} else head)


@breaks("input-at-start-is-kept", cells=MESSAGES_STREAM)
class InputAtStartDropped(MessagesStream):
    """Ignores an input in the start of a block."""

    def begin(self, index: Any, head: Json) -> str:
        return super().begin(index, {**head, "input": {}} if "input" in head else head)


@breaks(
    "missing-input-at-start-is-tolerated",
    collateral={
        (
            "arguments-arrive-whatever-their-shape",
            "call-runs-its-tool-once",
            "every-call-of-a-turn-runs",
            "framing-does-not-matter",
            "raising-tool-runs-once",
            "recorded-traffic-is-read-right",
            "text-before-calls-runs-the-calls",
        ): "llama.cpp sends every call like this, and its recordings are used"
    },
    cells=MESSAGES_STREAM,
)
class InputAtStartNeeded(MessagesStream):
    """Fails if a call starts without an input."""

    def begin(self, index: Any, head: Json) -> str:
        if head["type"] == "tool_use" and "input" not in head:
            raise StreamBroken("a tool_use block of the stream began without an input")
        return super().begin(index, head)


@breaks("stray-end-marker-is-skipped", cells=MESSAGES_STREAM)
class EndMarkerRefused(MessagesStream):
    """Fails on the end marker of another wire."""

    def add(self, data: str) -> Delta:
        if data.startswith("[DONE]"):
            raise MalformedReply(f"an event of the stream is not JSON: {data}")
        return super().add(data)


def _is_bare_call(block: PartialBlock) -> bool:
    return block.head["type"] == "tool_use" and not block.head.get("input")
