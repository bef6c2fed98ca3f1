"""Anthropic Messages: an event stream becomes a turn.

`message_start`, then for each content block its start, its deltas and its stop, then at least one `message_delta` with
stop reason and usage, then `message_stop`. Only the last one shows that the stream is complete: the stop reason comes
before it, and the connection may break between the two.

A message may also start with all of its blocks and its stop reason, directly followed by `message_stop`: this is how a
turn is streamed in the middle of programmatic tool calls.

A delta belongs to the block with its index. The stop of a block is not required, because a block that the token limit
cut never stops. `ping` and unknown events may come anywhere and are ignored.

A block is rebuilt from its start and its deltas, so that it is sent back unchanged. Its input is parsed once, when the
turn is complete: a part of it may be valid JSON with another meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

from looptck_reference.vocabulary.errors import BadArguments, MalformedReply, StreamBroken
from looptck_reference.vocabulary.tools import parse_arguments
from looptck_reference.vocabulary.values import Json, Turn
from looptck_reference.wires.events import EventStream
from looptck_reference.wires.text import joined, member, text_at

__all__ = ["MessagesStream", "PartialBlock", "in_container"]

Blocks = Callable[[Sequence[Json], str, Mapping[str, Any] | None, Mapping[int, str]], Turn]
"""Makes a turn from blocks, stop reason, usage, and the known texts of calls' arguments, by the index of their
blocks."""


class PartialBlock:
    """An unfinished block: its start, and the pieces of text that extend its fields."""

    __slots__ = ("head", "index", "input", "pieces")

    def __init__(self, index: int, head: Json) -> None:
        self.index = index
        self.head = head
        self.pieces: dict[str, list[str]] = {}
        self.input: list[str] = []

    def grow(self, field: str, piece: str) -> None:
        """Keep a piece of a field."""
        self.pieces.setdefault(field, []).append(piece)

    def update(self, delta: Json) -> None:
        """Apply a delta of an unknown kind: it extends or replaces fields of the block's start, and no others.

        A field that the start does not have would be made up, and the API refuses blocks with unknown fields.
        """
        for field, value in delta.items():
            if field == "type" or field not in self.head:
                continue
            if isinstance(value, str) and isinstance(self.head[field], str):
                self.grow(field, value)
            else:
                self.head[field] = value

    def written(self) -> str | None:
        """The text of the input, if it was streamed as text; compatible servers may send the input with the start."""
        text = joined(self.input)
        return None if self.head.get("input") and not text.strip() else text

    def whole(self) -> Json:
        """The complete block."""
        grown = {field: joined([self.head.get(field) or "", *pieces]) for field, pieces in self.pieces.items()}
        block = {**self.head, **grown}
        if self.input or block.get("type") == "tool_use":
            text = self.written()
            block["input"] = block["input"] if text is None else _object(text)
        return block


def in_container(message: Mapping[str, Any]) -> Json:
    """The container of a message, as the next request names it."""
    container = message.get("container")
    id = container.get("id") if isinstance(container, dict) else None
    return {"container": id} if isinstance(id, str) else {}


class MessagesStream(EventStream):
    """Collects one stream."""

    end = "stop_reason and message_stop came"

    def __init__(self, turn_of: Blocks) -> None:
        super().__init__()
        self.blocks: list[PartialBlock] = []
        self.stop_reason = ""
        self._turn_of = turn_of
        self._at: dict[int, PartialBlock] = {}
        self.usage: Json = {}
        self._carried: Json = {}
        self._id = ""

    def take(self, event: Json) -> str:
        """Handle one event; each kind of event has its method."""
        match event.get("type"):
            case "content_block_delta":
                return self.add_delta(self.block_at(event.get("index")), member(event, "delta"))
            case "content_block_start":
                return self.begin(event.get("index"), member(event, "content_block"))
            case "message_start":
                return self.begin_message(member(event, "message"))
            case "message_delta":
                self.stop_reason = text_at(member(event, "delta"), "stop_reason") or self.stop_reason
                self._carried |= in_container(member(event, "delta"))
                self.count(event.get("usage"))
            case "message_stop":
                self.complete = True
        return ""

    def whole(self) -> bool:
        """Whether both the stop reason and message_stop have come."""
        return self.complete and self.stop_reason != ""

    def turn(self) -> Turn:
        """The turn of the blocks, in the order of their indexes."""
        blocks = sorted(self.blocks, key=attrgetter("index"))
        written = {at: text for at, block in enumerate(blocks) if (text := block.written()) is not None}
        turn = self._turn_of([block.whole() for block in blocks], self.stop_reason, self.usage or None, written)
        return replace(turn, carried=self._carried)

    def begin_message(self, message: Json) -> str:
        """The message starts, usually empty; content that it already has is complete.

        Raises:
            StreamBroken: another message has started before it; what tries again on the way has joined two streams.
            MalformedReply: its content is not a list of blocks.
        """
        id = text_at(message, "id")
        if self._id and id != self._id:
            raise StreamBroken(f"the message {id!r} begins in the stream of the message {self._id!r}")
        self._id = id
        self.count(message.get("usage"))
        self.stop_reason = text_at(message, "stop_reason")
        self._carried |= in_container(message)
        content = message.get("content") or []
        if not isinstance(content, list) or not all(isinstance(block, dict) for block in content):
            raise MalformedReply("the first event of a stream has content that is not a list of blocks")
        return joined(self.begin(index, block) for index, block in enumerate(content))

    def begin(self, index: Any, head: Json) -> str:
        """A block begins; compatible servers may send the whole block in its start."""
        block = PartialBlock(index if isinstance(index, int) else len(self.blocks), head)
        self.blocks.append(block)
        self._at[block.index] = block
        if head.get("type") == "tool_use":
            self.calling = True
        return text_at(head, "text") if head.get("type") == "text" else ""

    def block_at(self, index: Any) -> PartialBlock:
        """The block with this index, to which a delta belongs; without an index, the latest block.

        Raises:
            StreamBroken: there is none.
        """
        block = self._at.get(index)
        if block is None and index is None and self.blocks:
            block = self.blocks[-1]
        if block is None:
            raise StreamBroken(f"a delta of the stream continues block {index!r}, which never began")
        return block

    def add_delta(self, block: PartialBlock, delta: Json) -> str:
        """Keep a piece of a block; return the text that the caller may see of it."""
        match delta.get("type"):
            case "input_json_delta":
                self.add_input(block, text_at(delta, "partial_json"))
                if block.head.get("type") == "tool_use":
                    self.write(text_at(block.head, "id"), text_at(delta, "partial_json"))
            case "text_delta":
                piece = text_at(delta, "text")
                block.grow("text", piece)
                return piece
            case "thinking_delta":
                block.grow("thinking", text_at(delta, "thinking"))
            case "signature_delta" | "compaction_delta":
                # These fields are sent in one piece.
                block.head.update({field: value for field, value in delta.items() if field != "type"})
            case "citations_delta":
                block.head["citations"] = citations = block.head.get("citations") or []
                citations.append(delta.get("citation"))
            case _:
                block.update(delta)
        return ""

    def add_input(self, block: PartialBlock, piece: str) -> None:
        """Keep a piece of a call's arguments."""
        block.input.append(piece)

    def count(self, usage: Json | None) -> None:
        """Counts are cumulative: the last one of each kind counts."""
        self.usage.update({kind: count for kind, count in (usage or {}).items() if count is not None})


def _object(text: str) -> Json:
    """The input object for this text.

    The API accepts only objects, and does not validate streamed input (`eager_input_streaming`). A text that is not an
    object is sent back under the key of the example in that option's documentation, so that the model can see what it
    wrote. The loop gets the text itself and treats it as bad arguments.
    """
    try:
        return parse_arguments(text)
    except BadArguments:
        return {"INVALID_JSON": text}
