"""Assembly of an input from its pieces: the seams of `MessagesStream`."""

from __future__ import annotations

from typing import Any

from looptck_mutants.cells import MESSAGES_STREAM
from looptck_mutants.parts import breaks
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.errors import BadArguments, StreamBroken
from looptck_reference.vocabulary.values import Json
from looptck_reference.wires import MessagesStream
from looptck_reference.wires.anthropic_messages_stream import PartialBlock

KNOWN = {
    *("message_start", "message_delta", "message_stop", "ping", "error"),
    *("content_block_start", "content_block_delta", "content_block_stop"),
}


@breaks("claude-input-is-accumulated", cells=MESSAGES_STREAM)
class PiecesOverflow(MessagesStream):
    """Drops pieces of an input after sixty consecutive ones."""

    in_a_row: tuple[PartialBlock | None, int] = None, 0

    def add_input(self, block: PartialBlock, piece: str) -> None:
        latest, count = self.in_a_row
        self.in_a_row = block, count + 1 if block is latest else 1
        if self.in_a_row[1] <= 60:
            super().add_input(block, piece)


@breaks("claude-input-is-accumulated-by-index", cells=MESSAGES_STREAM)
class LongInputsStray(MessagesStream):
    """Appends pieces to the latest block once their own block has ten."""

    def block_at(self, index: Any) -> PartialBlock:
        block = super().block_at(index)
        return block if len(block.input) < 10 else self.blocks[-1]


@breaks("claude-empty-input-is-an-object", cells=MESSAGES_STREAM)
class NoTextIsNoObject(Loop):
    """Treats an empty input as invalid JSON."""

    def parse_arguments(self, text: str) -> Json:
        if not text:
            raise BadArguments("an empty text is not JSON")
        return super().parse_arguments(text)


@breaks("claude-pings-and-unknown-events-are-skipped", cells=MESSAGES_STREAM)
class UnknownEventsBreak(MessagesStream):
    """Fails on a stream with an unknown event."""

    def take(self, event: Json) -> str:
        if event.get("type") not in KNOWN:
            raise StreamBroken(f"unknown event type {event.get('type')!r}")
        return super().take(event)


@breaks("claude-pings-and-unknown-events-are-skipped", cells=MESSAGES_STREAM)
class PingEndsItsBlock(MessagesStream):
    """Drops the rest of an input after a ping inside its block."""

    def add_input(self, block: PartialBlock, piece: str) -> None:
        if self.pinged is not block:
            super().add_input(block, piece)

    def take(self, event: Json) -> str:
        within = event.get("type") == "ping" and self.blocks and self.blocks[-1].input
        self.pinged = self.blocks[-1] if within else self.pinged
        return super().take(event)

    pinged: PartialBlock | None = None


@breaks("claude-lost-turn-is-told", cells=MESSAGES_STREAM)
class LostTurnIsTheAnswer(MessagesStream):
    """Returns the text of an incomplete turn as the answer, without running its calls."""

    def refuse_error(self, event: Json) -> None:
        self.complete = event.get("type") == "error"

    def whole(self) -> bool:
        if not super().whole():
            self.stop_reason = "end_turn"
        return True
