"""What becomes of the pieces of an input: the seams of `MessagesStream`."""

from __future__ import annotations

from typing import Any

from looptck_reference.errors import BadArguments, StreamBroken
from looptck_reference.loop import Loop
from looptck_reference.mutants.mutant import MESSAGES_STREAM, Mutant
from looptck_reference.mutants.speaking import streaming
from looptck_reference.values import Json
from looptck_reference.wires import MessagesStream
from looptck_reference.wires.anthropic_messages_stream import PartialBlock

KNOWN = {
    *("message_start", "message_delta", "message_stop", "ping", "error"),
    *("content_block_start", "content_block_delta", "content_block_stop"),
}


class PiecesOverflow(Mutant):
    """Loses pieces of an input behind the sixtieth that came in a row: `claude-input-is-accumulated`."""

    breaks = ("claude-input-is-accumulated",)
    cells = MESSAGES_STREAM

    class Stream(MessagesStream):
        in_a_row: tuple[PartialBlock | None, int] = None, 0

        def add_input(self, block: PartialBlock, piece: str) -> None:
            latest, count = self.in_a_row
            self.in_a_row = block, count + 1 if block is latest else 1
            if self.in_a_row[1] <= 60:
                super().add_input(block, piece)

    wires = streaming(messages=Stream)


class LongInputsStray(Mutant):
    """Takes pieces behind the tenth of an input for the latest block's: `claude-input-is-accumulated-by-index`."""

    breaks = ("claude-input-is-accumulated-by-index",)
    cells = MESSAGES_STREAM

    class Stream(MessagesStream):
        def block_at(self, index: Any) -> PartialBlock:
            block = super().block_at(index)
            return block if len(block.input) < 10 else self.blocks[-1]

    wires = streaming(messages=Stream)


class NoTextIsNoObject(Mutant):
    """Takes an empty input for one that is no JSON: `claude-empty-input-is-an-object`."""

    breaks = ("claude-empty-input-is-an-object",)
    cells = MESSAGES_STREAM

    class loop(Loop):  # noqa: N801  the driver's attribute
        def parse_arguments(self, text: str) -> Json:
            if not text:
                raise BadArguments("an empty text is no JSON")
            return super().parse_arguments(text)


class UnknownEventsBreak(Mutant):
    """Gives up a stream with an event that it does not know: `claude-pings-and-unknown-events-are-skipped`."""

    breaks = ("claude-pings-and-unknown-events-are-skipped",)
    cells = MESSAGES_STREAM

    class Stream(MessagesStream):
        def take(self, event: Json) -> str:
            if event.get("type") not in KNOWN:
                raise StreamBroken(f"nobody knows events of the type {event.get('type')!r}")
            return super().take(event)

    wires = streaming(messages=Stream)


class PingEndsItsBlock(Mutant):
    """Loses what comes of a block behind a ping in it: `claude-pings-and-unknown-events-are-skipped`."""

    breaks = ("claude-pings-and-unknown-events-are-skipped",)
    cells = MESSAGES_STREAM

    class Stream(MessagesStream):
        def add_input(self, block: PartialBlock, piece: str) -> None:
            if self.pinged is not block:
                super().add_input(block, piece)

        def take(self, event: Json) -> str:
            within = event.get("type") == "ping" and self.blocks and self.blocks[-1].input
            self.pinged = self.blocks[-1] if within else self.pinged
            return super().take(event)

        pinged: PartialBlock | None = None

    wires = streaming(messages=Stream)


class LostTurnIsTheAnswer(Mutant):
    """Takes what has come of a lost turn for the answer, and runs nothing of it: `claude-lost-turn-is-told`."""

    breaks = ("claude-lost-turn-is-told",)
    cells = MESSAGES_STREAM

    class Stream(MessagesStream):
        def refuse_error(self, event: Json) -> None:
            self.complete = event.get("type") == "error"

        def whole(self) -> bool:
            if not super().whole():
                self.stop_reason = "end_turn"
            return True

    wires = streaming(messages=Stream)
