"""Conversations that the service keeps: a request that belongs to one continues its items, and adds to them.

A request with ``conversation`` sends its new items alone, as it does with ``previous_response_id``; its input and the
items of the reply are added to the conversation (recorded: results of tools alone as the input of such a request).
Items can be put in, listed and deleted by routes of their own, which sessions of some SDKs use as their store.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from looptck.values.lenient import as_object
from looptck.values.turns import Turn

Item = dict[str, Any]

PAGE = 20
"""How many items a list has if the request names no ``limit``."""
MOST = 100
"""The most items of a list."""
_BEGAN = 1_750_000_000
_PREFIXES = {"function_call": "fc", "function_call_output": "fco", "reasoning": "rs"}
"""What ids of items begin with, by their type; all others are messages."""


def id_of(body: Mapping[str, Any]) -> str | None:
    """The id of the conversation that a request names, by itself or in an object; None if it names none."""
    named = body.get("conversation")
    id = named.get("id") if isinstance(named, dict) else named
    return id if isinstance(id, str) else None


def told(turn: Turn, body: Mapping[str, Any]) -> Turn:
    """A turn as the reply to this request tells it: with the conversation that it belongs to."""
    id = id_of(body)
    return turn if id is None else replace(turn, conversation=id)


@dataclass(slots=True)
class Conversation:
    """A conversation, and its items in their order."""

    id: str
    metadata: Any
    items: list[Item] = field(default_factory=list)

    def object(self) -> dict[str, Any]:
        """The conversation as the service tells it, without its items."""
        return {"id": self.id, "object": "conversation", "created_at": _BEGAN, "metadata": self.metadata or {}}


class Conversations:
    """The conversations of one run's service."""

    def __init__(self) -> None:
        self._kept: dict[str, Conversation] = {}
        self._made = 0
        self._named = 0

    def __contains__(self, id: str) -> bool:
        return id in self._kept

    def items(self, id: str | None) -> list[Item]:
        """The items of a conversation so far; none of one that there is not."""
        found = self._kept.get(id) if id is not None else None
        return [*found.items] if found is not None else []

    def add(self, id: str | None, new: Iterable[Any]) -> list[Item]:
        """Put items at the end of a conversation, if there is one; returns them as they are kept."""
        found = self._kept.get(id) if id is not None else None
        if found is None:
            return []
        kept = [stored(item, self._name()) for item in new if isinstance(item, dict)]
        found.items += kept
        return kept

    def _name(self) -> str:
        """The name of another item, which no other has."""
        self._named += 1
        return f"c{self._named:015d}"

    def lose(self) -> None:
        """Lose all of them."""
        self._kept.clear()

    def side(self, method: str, path: list[str], query: Mapping[str, str], body: Any) -> dict[str, Any] | None:
        """The reply on a route below ``/conversations``; None if there is none, or no such conversation."""
        if not path:
            return self._created(as_object(body)) if method == "POST" else None
        found = self._kept.get(path[0])
        if found is None:
            return None
        match method, path[1:]:
            case "GET", []:
                return found.object()
            case "POST", []:
                found.metadata = as_object(body).get("metadata", found.metadata)
                return found.object()
            case "DELETE", []:
                del self._kept[found.id]
                return {"id": found.id, "object": "conversation.deleted", "deleted": True}
            case "GET", ["items"]:
                return page(found.items, query)
            case "POST", ["items"]:
                return page(self.add(found.id, _entries(body)), {"order": "asc", "limit": str(MOST)})
            case "GET", ["items", id]:
                return next((item for item in found.items if item["id"] == id), None)
            case "DELETE", ["items", id]:
                found.items = [item for item in found.items if item["id"] != id]
                return found.object()
            case _:
                return None

    def _created(self, body: Mapping[str, Any]) -> dict[str, Any]:
        self._made += 1
        made = Conversation(f"conv_looptck{self._made:016d}", body.get("metadata"))
        self._kept[made.id] = made
        self.add(made.id, _entries(body))
        return made.object()


def stored(item: Item, name: str) -> Item:
    """An item as the service keeps it: with a type, an id, made of this name if it has none, and its text in parts."""
    kind = item.get("type") or "message"
    kept = {"type": kind, **item}
    if not isinstance(kept.get("id"), str):
        kept["id"] = f"{_PREFIXES.get(kind, 'msg')}_looptck{name}"
    if kind == "message" and isinstance(text := item.get("content"), str):
        part = "output_text" if item.get("role") == "assistant" else "input_text"
        more: dict[str, Any] = {"annotations": [], "logprobs": []} if part == "output_text" else {}
        kept["content"] = [{"type": part, "text": text, **more}]
    if kind in ("message", *_PREFIXES) and kind != "reasoning":
        kept.setdefault("status", "completed")
    return kept


def page(items: list[Item], query: Mapping[str, str]) -> dict[str, Any]:
    """A list of items: the latest first, unless ``order`` is ``asc``; behind ``after``, at most ``limit``."""
    ordered = items if query.get("order") == "asc" else items[::-1]
    ids = [item["id"] for item in ordered]
    begin = ids.index(query["after"]) + 1 if query.get("after") in ids else 0
    limit = min(int(query["limit"]), MOST) if query.get("limit", "").isdecimal() else PAGE
    shown = ordered[begin : begin + limit]
    return {
        "object": "list",
        "data": shown,
        "first_id": shown[0]["id"] if shown else None,
        "last_id": shown[-1]["id"] if shown else None,
        "has_more": begin + limit < len(ordered),
    }


def _entries(body: Any) -> list[Any]:
    """The items of the body that creates a conversation, or adds to it."""
    given = as_object(body).get("items")
    return given if isinstance(given, list) else []
