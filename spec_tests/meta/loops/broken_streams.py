"""Broken loops that read a stream wrongly: its lines, its pieces, its errors, its end."""

from __future__ import annotations

import json
from typing import Any

from looptck_reference.driver import Driver
from looptck_reference.loop import Loop
from looptck_reference.tools import Handler
from looptck_reference.values import Json, ToolCall
from looptck_reference.wires import ChatStream, ChatWire, EventReader, MessagesStream, ResponsesStream, Wire
from looptck_reference.wires.anthropic_messages_stream import PartialBlock
from looptck_reference.wires.openai_chat_stream import PartialCall
from looptck_reference.wires.openai_responses_stream import PartialItem
from meta.loops.speaking import streaming


class LinesOfText(Driver):
    """Splits the stream as text is split, at U+2028 too: `line-separators-in-text-survive`."""

    class Reader(EventReader):
        def lines(self, text: bytes) -> list[bytes]:
            lines = text.decode("utf-8", "surrogateescape").splitlines()
            return [line.encode("utf-8", "surrogateescape") for line in lines]

    wires = streaming(cutter=Reader)


class CallsMerged(Driver):
    """Takes every piece of arguments for one of the latest call: `interleaved-calls-stay-apart`."""

    class Stream(ChatStream):
        def call_for(self, index: Any, call_id: str) -> PartialCall:
            return super().call_for(index if call_id else None, call_id)

    wires = streaming(chat=Stream)


class BlocksMerged(Driver):
    """Takes every delta for one of the latest block: `interleaved-blocks-stay-apart`."""

    class Stream(MessagesStream):
        def block_at(self, index: Any) -> PartialBlock:
            return super().block_at(None)

    wires = streaming(messages=Stream)


class ItemsMerged(Driver):
    """Takes every delta for one of the latest item, and trusts its deltas alone: `interleaved-blocks-stay-apart`.

    Two seams: what the last event records would repair what the deltas broke.
    """

    class Stream(ResponsesStream):
        def item_for(self, index: Any, item_id: Any) -> PartialItem:
            return self.items[-1]

        def output(self) -> list[Json]:
            return self.streamed()

    wires = streaming(responses=Stream)


class Eager(Driver):
    """Runs a call once its arguments are JSON, while the model still writes: `calls-run-after-the-stream-ends`."""

    class loop(Loop):  # noqa: N801
        def __init__(self, agent: Any, *, wire: Wire, **options: Any) -> None:
            super().__init__(agent, wire=EagerChat(self) if isinstance(wire, ChatWire) else wire, **options)
            self.gave: dict[str, object] = {}

        def run_early(self, call: ToolCall) -> None:
            handler = super().handler_for(call)
            if handler is not None and call.id not in self.gave:
                self.gave[call.id] = handler(**json.loads(call.arguments))

        def handler_for(self, call: ToolCall) -> Handler | None:
            return (lambda **_: self.gave[call.id]) if call.id in self.gave else super().handler_for(call)


class EagerChat(ChatWire):
    """The wire of `Eager`: it knows the loop, as only its stream sees the calls while they are written."""

    def __init__(self, loop: Eager.loop) -> None:
        self.loop = loop

    def stream(self) -> ChatStream:
        """A stream that has calls run."""
        return EagerStream(self.loop)


class EagerStream(ChatStream):
    """The stream of `Eager`."""

    def __init__(self, loop: Eager.loop) -> None:
        super().__init__()
        self.loop = loop

    def add_call(self, delta: Json) -> None:
        """Run it if it reads."""
        super().add_call(delta)
        call = self._calls[-1].whole()
        if _reads(call.arguments):
            self.loop.run_early(call)


class Hasty(Driver):
    """Takes a piece of arguments that reads as JSON for all of them: `fragmented-arguments-are-joined`."""

    class Stream(MessagesStream):
        def add_input(self, block: PartialBlock, piece: str) -> None:
            if block.input and _reads("".join(block.input)):
                return
            block.input = [piece] if _reads(piece) else [*block.input, piece]

    wires = streaming(messages=Stream)


class ErrorIsTheEnd(Driver):
    """Takes an error inside a stream for its end: `error-event-runs-nothing`, `error-event-is-told`."""

    class Chat(ChatStream):
        def refuse_error(self, event: Json) -> None:
            if "error" in event:
                self._finish_reason = "stop"

    class Messages(MessagesStream):
        def refuse_error(self, event: Json) -> None:
            if event.get("type") == "error":
                self.complete, self.stop_reason = True, "tool_use" if self.calling else "end_turn"

    class Responses(ResponsesStream):
        def refuse_error(self, event: Json) -> None:
            if event.get("type") == "error":
                self.complete = True

    wires = streaming(chat=Chat, messages=Messages, responses=Responses)


class AnyEndIsTheEnd(Driver):
    """Takes the end of the bytes for the end of the turn: `stream-without-finish-runs-nothing`, `…-is-told`."""

    class Chat(ChatStream):
        def whole(self) -> bool:
            return True

    class Messages(MessagesStream):
        def whole(self) -> bool:
            self.stop_reason = self.stop_reason or ("tool_use" if self.calling else "end_turn")
            return True

    class Responses(ResponsesStream):
        def whole(self) -> bool:
            return True

    wires = streaming(chat=Chat, messages=Messages, responses=Responses)


class NoArgumentsCrash(Driver):
    """Parses what is not there: `empty-arguments-are-an-empty-object`, `no-argument-delta-is-an-empty-object`."""

    class loop(Loop):  # noqa: N801
        def parse_arguments(self, text: str) -> Json:
            return super().parse_arguments(text or json.loads(text))


def _reads(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
