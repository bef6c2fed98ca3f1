"""Anthropic Messages: an event stream becomes a turn.

`message_start`, then for each content block its start, its deltas and its stop, then at least one `message_delta` with
stop reason and usage, then `message_stop`. Only the last says that the stream is whole: the stop reason comes before
it, and the connection may break between the two.

A message may also start with all of its blocks and its stop reason, and be over with `message_stop` right behind: so a
turn is streamed in the middle of calls that code makes.

A delta belongs to the block with its index. That a block stops is not waited for, as the one that was cut by the token
limit never does. `ping` may come anywhere, and events that nobody knows may too; both say nothing.

A block is rebuilt from its start and its deltas, so that it goes back as it came. Its input is parsed once, when the
turn is whole: half of it may be JSON too, and mean something else.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

from looptck_reference.errors import BadArguments, MalformedReply, StreamBroken
from looptck_reference.tools import parse_arguments
from looptck_reference.values import Json, Turn
from looptck_reference.wires.events import EventStream
from looptck_reference.wires.text import joined, member, text_at

if TYPE_CHECKING:
    from looptck_reference.wires.anthropic_messages import MessagesWire

__all__ = ["MessagesStream", "PartialBlock"]


class PartialBlock:
    """A block of which more may come: its start, and the pieces of text by which its fields grow."""

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
        """A delta of a kind that nobody knows grows or replaces the fields that its block began with, and no others.

        A field that the block did not begin with would be invented, and the API refuses blocks with such fields.
        """
        for field, value in delta.items():
            if field == "type" or field not in self.head:
                continue
            if isinstance(value, str) and isinstance(self.head[field], str):
                self.grow(field, value)
            else:
                self.head[field] = value

    def written(self) -> str | None:
        """The text of the input, if it came as text: compatible servers send all of it with the start instead."""
        text = joined(self.input)
        return None if self.head.get("input") and not text.strip() else text

    def whole(self) -> Json:
        """The block, once nothing more can come."""
        grown = {field: joined([self.head.get(field) or "", *pieces]) for field, pieces in self.pieces.items()}
        block = {**self.head, **grown}
        if self.input or block.get("type") == "tool_use":
            text = self.written()
            block["input"] = block["input"] if text is None else _object(text)
        return block


class MessagesStream(EventStream):
    """Collects one stream."""

    end = "stop_reason and message_stop came"

    def __init__(self, wire: MessagesWire) -> None:
        super().__init__()
        self.blocks: list[PartialBlock] = []
        self.stop_reason = ""
        self._wire = wire
        self._at: dict[int, PartialBlock] = {}
        self._usage: Json = {}

    def take(self, event: Json) -> str:
        """Each kind of event has its method."""
        match event.get("type"):
            case "content_block_delta":
                return self.add_delta(self.block_at(event.get("index")), member(event, "delta"))
            case "content_block_start":
                return self.begin(event.get("index"), member(event, "content_block"))
            case "message_start":
                return self.begin_message(member(event, "message"))
            case "message_delta":
                self.stop_reason = text_at(member(event, "delta"), "stop_reason") or self.stop_reason
                self._count(event.get("usage"))
            case "message_stop":
                self.complete = True
        return ""

    def whole(self) -> bool:
        """Both are needed."""
        return self.complete and self.stop_reason != ""

    def turn(self) -> Turn:
        """The blocks, at the places that their indexes give them."""
        blocks = sorted(self.blocks, key=attrgetter("index"))
        written = {at: text for at, block in enumerate(blocks) if (text := block.written()) is not None}
        return self._wire.turn([block.whole() for block in blocks], self.stop_reason, self._usage or None, written)

    def begin_message(self, message: Json) -> str:
        """The message starts, empty as a rule; what it has in it already is whole."""
        self._count(message.get("usage"))
        self.stop_reason = text_at(message, "stop_reason")
        content = message.get("content") or []
        if not isinstance(content, list) or not all(isinstance(block, dict) for block in content):
            raise MalformedReply("the message of a stream starts with what are no content blocks")
        return joined(self.begin(index, block) for index, block in enumerate(content))

    def begin(self, index: Any, head: Json) -> str:
        """A block begins; compatible servers may have put all of it into its start."""
        block = PartialBlock(index if isinstance(index, int) else len(self.blocks), head)
        self.blocks.append(block)
        self._at[block.index] = block
        if head.get("type") == "tool_use":
            self.calling = True
        return text_at(head, "text") if head.get("type") == "text" else ""

    def block_at(self, index: Any) -> PartialBlock:
        """The block that a delta with this index continues; without an index, the latest.

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
            case "text_delta":
                piece = text_at(delta, "text")
                block.grow("text", piece)
                return piece
            case "thinking_delta":
                block.grow("thinking", text_at(delta, "thinking"))
            case "signature_delta" | "compaction_delta":
                # These come whole.
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

    def _count(self, usage: Json | None) -> None:
        """Counts are cumulative: the last one of each kind holds."""
        self._usage.update({kind: count for kind, count in (usage or {}).items() if count is not None})


def _object(text: str) -> Json:
    """The input that this text stands for.

    The API takes nothing but objects, and does not check what a model streams (`eager_input_streaming`). What is no
    object goes back under the key that the documentation of that option gives as an example, so that the model can see
    what it wrote. The loop is given the text itself and deals with it as with any bad arguments.
    """
    try:
        return parse_arguments(text)
    except BadArguments:
        return {"INVALID_JSON": text}
