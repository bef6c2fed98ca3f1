"""OpenAI Responses: an event stream becomes a turn.

An item is added, its text or arguments come in deltas, and it is done; the last event is `response.completed`,
`.incomplete` or `.failed` and has the whole response once more. Only that last event shows that the stream is complete;
there is no `[DONE]`.

The repeated content may differ. The response of the last event takes precedence: it is the service's own record of the
turn, and needs no assembly. Only its reasoning is encrypted again, and the documentation says to send back the
reasoning of the item's done event. Some servers leave the last event's output empty; then the items of the stream are
used, in the form of their done events, because ids, `call_id` and encrypted reasoning may be provisional when an item
is added. An item without a done event is assembled from its deltas.

Events belong to the item with their `output_index`; compatible servers send only its `item_id`, or neither, and mean
the latest item. `sequence_number` is not needed, because a connection keeps its order.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from looptck_reference.vocabulary.errors import StreamBroken
from looptck_reference.vocabulary.values import Json, Turn
from looptck_reference.wires.events import EventStream
from looptck_reference.wires.openai_responses_turn import said
from looptck_reference.wires.text import joined, member, text_at

__all__ = ["PartialItem", "ResponsesStream"]


class PartialItem:
    """An unfinished item. Parts of its text are identified by their kind and `content_index`."""

    __slots__ = ("arguments", "done", "index", "item", "parts")

    def __init__(self, index: int) -> None:
        self.index = index
        self.item: Json = {}
        self.done = False
        self.arguments: list[str] = []
        self.parts: dict[tuple[str, Any], list[str]] = {}

    def whole(self) -> Json:
        """The complete item.

        Raises:
            StreamBroken: the stream has only deltas of the item.
        """
        if self.done:
            return self.item
        item = dict(self.item)
        match item.get("type"):
            case None:
                raise StreamBroken("the stream has deltas of an item that was neither added nor done")
            case "function_call" if self.arguments:
                item["arguments"] = joined(self.arguments)
            case "message" if self.parts:
                item["content"] = [_part(kind, joined(pieces)) for (kind, _), pieces in self.parts.items()]
        # The item was in progress when it was added, and the response has ended since.
        return {**item, "status": "completed"} if "status" in item else item


class ResponsesStream(EventStream):
    """Collects one stream."""

    end = "response.completed or another terminal event came"

    def __init__(self, decode: Callable[[Json], Turn]) -> None:
        """``decode`` makes a turn from a complete response."""
        super().__init__()
        self.items: list[PartialItem] = []
        self._decode = decode
        self._known: dict[Any, PartialItem] = {}
        self._response: Json = {}

    def take(self, event: Json) -> str:
        """Handle one event; each kind has its method, and events without content are skipped."""
        match event.get("type"):
            case "response.function_call_arguments.delta":
                item = self.item_for(event.get("output_index"), event.get("item_id"))
                self.add_arguments(item, text_at(event, "delta"))
                self.write(text_at(item.item, "call_id"), text_at(event, "delta"))
            case "response.output_text.delta":
                return self.add_text(event, "output_text", text_at(event, "delta"))
            case "response.refusal.delta":
                return self.add_text(event, "refusal", text_at(event, "delta"))
            case "response.output_item.added":
                self.begin(event)
            case "response.output_item.done":
                return self.end_item(event)
            case "response.function_call_arguments.done":
                item = self.item_for(event.get("output_index"), event.get("item_id"))
                item.arguments = [text_at(event, "arguments")]
            case "response.output_text.done":
                return self.end_text(event, "output_text", text_at(event, "text"))
            case "response.refusal.done":
                return self.end_text(event, "refusal", text_at(event, "refusal"))
            case "response.completed" | "response.incomplete" | "response.failed" as kind:
                return self.end_response(kind, member(event, "response"))
        return ""

    def whole(self) -> bool:
        """Whether the response is completed, incomplete or failed, each of which completes the stream."""
        return self.complete

    def turn(self) -> Turn:
        """The turn of the last event's response, with the items that take precedence."""
        return self._decode({**self._response, "output": self.output()})

    def output(self) -> Any:
        """The items of the last event, or those of the stream if it has none."""
        recorded = self._response.get("output")
        return [self.as_done(item) for item in recorded] if recorded else self.streamed()

    def as_done(self, item: Any) -> Any:
        """An item of the last event; reasoning in the form of its done event, if it had one."""
        if not isinstance(item, dict) or item.get("type") != "reasoning":
            return item
        partial = self._known.get(item.get("id"))
        return partial.item if partial is not None and partial.done else item

    def streamed(self) -> list[Json]:
        """The items as the stream described them."""
        return [item.whole() for item in sorted(self.items, key=attrgetter("index"))]

    def begin(self, event: Json) -> None:
        """An item begins."""
        item = member(event, "item")
        partial = self._known.get(event.get("output_index"))
        if partial is None or partial.item:
            partial = self.new_item(event.get("output_index"), item.get("id"))
        self._hold(partial, item)

    def item_for(self, index: Any, item_id: Any) -> PartialItem:
        """The item with this `output_index` and id, to which an event belongs; it may be a new one."""
        found = self._known.get(index) or self._known.get(item_id)
        if found is None and index is None and self.items and not self.items[-1].done:
            found = self.items[-1]
        return found or self.new_item(index, item_id)

    def new_item(self, index: Any, item_id: Any) -> PartialItem:
        """An item of which only its index and id are known."""
        partial = PartialItem(index if isinstance(index, int) else len(self.items))
        self.items.append(partial)
        self._know(partial, index, item_id)
        return partial

    def add_arguments(self, item: PartialItem, piece: str) -> None:
        """Keep a piece of a call's arguments."""
        item.arguments.append(piece)

    def add_text(self, event: Json, kind: str, piece: str) -> str:
        """Keep a piece of text, which the caller may see."""
        self._part(event, kind).append(piece)
        return piece

    def end_text(self, event: Json, kind: str, text: str) -> str:
        """A part is complete; the caller may see it if none of it came before."""
        part = self._part(event, kind)
        came_before, part[:] = any(part), [text]
        return "" if came_before else text

    def end_item(self, event: Json) -> str:
        """An item is done; the caller may see its text if none of it came before."""
        item = member(event, "item")
        partial = self.item_for(event.get("output_index"), item.get("id"))
        self._hold(partial, item)
        partial.done = True
        return "" if any(map(any, partial.parts.values())) else "".join(said([item]))

    def end_response(self, kind: str, response: Json) -> str:
        """The last event. The caller may see the text of a response of which nothing was streamed."""
        self.complete = True
        self._response = {**response, "status": response.get("status") or kind.removeprefix("response.")}
        return "" if self.items else "".join(said(response.get("output") or []))

    def _hold(self, partial: PartialItem, item: Json) -> None:
        partial.item = item
        self._know(partial, item.get("id"))
        if item.get("type") == "function_call":
            self.calling = True

    def _know(self, partial: PartialItem, *keys: Any) -> None:
        self._known.update({key: partial for key in keys if key is not None})

    def _part(self, event: Json, kind: str) -> list[str]:
        item = self.item_for(event.get("output_index"), event.get("item_id"))
        return item.parts.setdefault((kind, event.get("content_index")), [])


def _part(kind: str, text: str) -> Json:
    if kind == "refusal":
        return {"type": kind, "refusal": text}
    return {"type": kind, "text": text, "annotations": []}
