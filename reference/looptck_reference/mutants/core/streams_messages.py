"""Streams of Messages put together wrongly: the seams of `MessagesStream`, from a block's start to the stop reason."""

from __future__ import annotations

from typing import Any

from looptck_reference.errors import MalformedReply, StreamBroken
from looptck_reference.mutants.core.streams_chat import A_FRAMING
from looptck_reference.mutants.mutant import MESSAGES_STREAM, Mutant, because
from looptck_reference.mutants.speaking import streaming
from looptck_reference.values import Delta, Json
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


class MessagesBlocksMerged(Mutant):
    """Takes every piece of arguments for one of the latest block: `interleaved-blocks-stay-apart`."""

    breaks = ("interleaved-blocks-stay-apart",)
    cells = MESSAGES_STREAM

    class Stream(MessagesStream):
        def add_input(self, block: PartialBlock, piece: str) -> None:
            super().add_input(self.blocks[-1], piece)

    wires = streaming(messages=Stream)


class PingEndsABlock(Mutant):
    """Drops what a block is told after a ping in its middle: `pings-are-skipped`."""

    breaks = ("pings-are-skipped",)
    also = A_FRAMING
    cells = MESSAGES_STREAM

    class Stream(MessagesStream):
        ended: PartialBlock | None = None

        def take(self, event: Json) -> str:
            if event["type"] == "ping" and self.blocks and self.blocks[-1].input:
                self.ended = self.blocks[-1]
            return super().take(event)

        def add_input(self, block: PartialBlock, piece: str) -> None:
            if block is not self.ended:
                super().add_input(block, piece)

    wires = streaming(messages=Stream)


class UnknownEventsRefused(Mutant):
    """Gives up at an event of a type that it does not know: `unknown-events-are-skipped`."""

    breaks = ("unknown-events-are-skipped",)
    also = A_FRAMING
    cells = MESSAGES_STREAM

    class Stream(MessagesStream):
        def take(self, event: Json) -> str:
            if event["type"] not in KNOWN_EVENTS:
                raise StreamBroken(f"an event of the stream is a {event['type']}, which nobody knows")
            return super().take(event)

    wires = streaming(messages=Stream)


class FirstMessageDeltaDecides(Mutant):
    """Takes the first message_delta for the only one: `last-message-delta-decides`."""

    breaks = ("last-message-delta-decides",)
    also = A_FRAMING
    cells = MESSAGES_STREAM

    class Stream(MessagesStream):
        deltas = 0

        def take(self, event: Json) -> str:
            self.deltas += event["type"] == "message_delta"
            return "" if event["type"] == "message_delta" and self.deltas > 1 else super().take(event)

    wires = streaming(messages=Stream)


class NoDeltaNoCall(Mutant):
    """Drops a call of which no arguments came: `no-argument-delta-is-an-empty-object`."""

    breaks = ("no-argument-delta-is-an-empty-object",)
    cells = MESSAGES_STREAM

    class Stream(MessagesStream):
        def whole(self) -> bool:
            self.blocks = [block for block in self.blocks if block.input or not _is_bare_call(block)]
            return super().whole()

    wires = streaming(messages=Stream)


class InputAtStartDropped(Mutant):
    """Takes arguments from deltas only: `input-at-start-is-kept`."""

    breaks = ("input-at-start-is-kept",)
    cells = MESSAGES_STREAM

    class Stream(MessagesStream):
        def begin(self, index: Any, head: Json) -> str:
            return super().begin(index, {**head, "input": {}} if "input" in head else head)

    wires = streaming(messages=Stream)


class InputAtStartNeeded(Mutant):
    """Gives up where a call begins without an input: `missing-input-at-start-is-tolerated`."""

    breaks = ("missing-input-at-start-is-tolerated",)
    also = because(
        "llama.cpp begins every call so, and its recordings are judged too",
        "arguments-arrive-whatever-their-shape",
        "call-runs-its-tool-once",
        "every-call-of-a-turn-runs",
        "framing-does-not-matter",
        "raising-tool-runs-once",
        "recorded-traffic-is-read-right",
        "text-before-calls-runs-the-calls",
    )
    cells = MESSAGES_STREAM

    class Stream(MessagesStream):
        def begin(self, index: Any, head: Json) -> str:
            if head["type"] == "tool_use" and "input" not in head:
                raise StreamBroken("a tool_use block of the stream began without an input")
            return super().begin(index, head)

    wires = streaming(messages=Stream)


class EndMarkerRefused(Mutant):
    """Gives up at the end marker of another wire: `stray-end-marker-is-skipped`."""

    breaks = ("stray-end-marker-is-skipped",)
    cells = MESSAGES_STREAM

    class Stream(MessagesStream):
        def add(self, data: str) -> Delta:
            if data.startswith("[DONE]"):
                raise MalformedReply(f"an event of the stream is not JSON: {data}")
            return super().add(data)

    wires = streaming(messages=Stream)


def _is_bare_call(block: PartialBlock) -> bool:
    return block.head["type"] == "tool_use" and not block.head.get("input")
