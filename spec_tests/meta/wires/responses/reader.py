"""A reader of Responses bodies and streams, for the tests alone: it shares no code with the encoder.

It reads what the official SDK cannot: events and items of unknown types, streams without numbers and places, calls
whose id changes on the way, final responses without their items. And it is strict where the SDK is lenient: what a
stream says three times, in deltas, in the event that ends them and in the item, has to agree.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from looptck.values.turns import Call, Hosted, Piece, Refusal, Served, Text, Thinking, Turn, Unknown

Said = tuple[Any, ...]
_LAST = ("response.completed", "response.incomplete", "response.failed")
_NAMES_OF_TEXTS = ("text", "refusal", "arguments", "input")


def said(body: dict[str, Any]) -> dict[str, Any]:
    """What a response says."""
    why = (body["incomplete_details"] or {}).get("reason")
    return {
        "pieces": [piece for item in body["output"] for piece in _pieces(item)],
        "status": body["status"],
        "why": why,
    }


def meant(turn: Turn) -> list[Said]:
    """What a reader should take from the items of a turn."""
    return [_meant(piece) for piece in turn.pieces]


def streamed(texts: Iterable[str]) -> dict[str, Any]:
    """What the events of a stream say: by their last event, or else by the items that they made."""
    stream = _Stream()
    for text in texts:
        stream.take(json.loads(text))
    return stream.said()


class _Stream:
    """The items of a stream, by their ids, in the order in which they were added."""

    def __init__(self) -> None:
        self.added: dict[str, dict[str, Any]] = {}
        self.done: dict[str, dict[str, Any]] = {}
        self.deltas: dict[tuple[str, str, int], str] = {}
        self.wholes: dict[tuple[str, str, int], str] = {}
        self.last: dict[str, Any] | None = None
        self.status = ""

    def take(self, event: dict[str, Any]) -> None:
        """One more event."""
        assert self.last is None, "nothing follows the last event"
        kind = event["type"]
        if kind in _LAST:
            self.last = event["response"]
        elif "response" in event:
            self.status = event["response"]["status"]
            assert [] == event["response"]["output"]
        elif kind == "response.output_item.added":
            assert event["item"]["id"] not in self.added
            self.added[event["item"]["id"]] = event["item"]
        elif kind == "response.output_item.done":
            assert event["item"]["id"] in self.added
            self.done[event["item"]["id"]] = event["item"]
        elif "item_id" in event:
            self._grow(event)

    def _grow(self, event: dict[str, Any]) -> None:
        """An event of one item, between the first and the last of it."""
        id = event["item_id"]
        assert id in self.added
        assert id not in self.done
        kind, _, step = event["type"].rpartition(".")
        key = (id, kind, event.get("content_index", event.get("summary_index", 0)))
        if step == "delta":
            assert key not in self.wholes
            self.deltas[key] = self.deltas.get(key, "") + event["delta"]
        elif step == "done" and "part" not in event:
            (whole,) = (event[name] for name in _NAMES_OF_TEXTS if name in event)
            assert self.deltas.get(key, whole) == whole
            self.wholes[key] = whole

    def said(self) -> dict[str, Any]:
        """What it all says."""
        items = {id: self.done.get(id, item) for id, item in self.added.items()}
        final = self.last["output"] if self.last else []
        if final:
            assert list(items) == [item["id"] for item in final]
            assert all(item == items[item["id"]] for item in final if item["id"] in self.done)
            items = {item["id"]: item for item in final}
        for texts in (self.deltas, self.wholes):
            for (id, _, place), text in texts.items():
                assert text == list(_texts(items[id]))[place]
        body = {"incomplete_details": None, "status": self.status, **(self.last or {})}
        return said({**body, "output": list(items.values())})


def _texts(item: dict[str, Any]) -> Iterator[str]:
    """The texts of an item that grow by deltas."""
    for part in [*item.get("content", ()), *item.get("summary", ()), item]:
        yield from (part[name] for name in _NAMES_OF_TEXTS if name in part)


def _pieces(item: dict[str, Any]) -> Iterator[Said]:
    match item:
        case {"type": "message", "content": parts}:
            for part in parts:
                yield part["type"], part.get("text", part.get("refusal")), item.get("phase")
        case {"type": "function_call"}:
            yield "call", item["call_id"], item["name"], item["arguments"]
        case {"type": "custom_tool_call"}:
            yield "custom call", item["call_id"], item["name"], item["input"]
        case {"type": "reasoning"}:
            yield "thought", item["id"], [part["text"] for part in item["summary"]], item["encrypted_content"]
        case {"type": "web_search_call"}:
            yield "search", item["id"], item["action"]["query"], item["status"]
        case {"type": "mcp_call"}:
            yield "mcp", item["id"], json.loads(item["arguments"])["query"], item["status"]
        case _:
            yield item["type"], item["id"]


def _meant(piece: Piece) -> Said:
    match piece:
        case Text(text, phase):
            return "output_text", text, phase
        case Refusal(text):
            return "refusal", text, None
        case Call(tool, arguments, id, custom):
            return "custom call" if custom else "call", id, tool, arguments
        case Thinking(text, redacted, id):
            return "thought", f"rs_{id}", [] if redacted else [text], piece.signature
        case Hosted(kind, query, done, id):
            prefix = "ws" if kind == "search" else "mcp"
            return kind, f"{prefix}_{id}", query, "completed" if done else "in_progress"
        case Unknown(id):
            return "x_unknown", id
        case Served():
            return piece.value["type"], piece.value["id"]
