"""The routes of what the service has stored: conversations, and responses that are read again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from looptck.values.framing import DEFAULT
from looptck.wires.openai_responses.conversations import page, stored, told
from looptck.wires.openai_responses.encode import body as encoded
from looptck.wires.openai_responses.encrypted import said_to
from looptck.wires.openai_responses.memory import Memory


def side(memory: Memory, method: str, path: str, query: Mapping[str, str], body: Any) -> dict[str, Any] | None:
    """The reply on a route below ``/v1``; None if there is none, or nothing stored under that id."""
    match path.removeprefix("/").split("/"):
        case ["conversations", *rest]:
            return memory.conversations.side(method, rest, query, body)
        case ["responses", id, *rest]:
            return _response(memory, method, id, rest, query)
        case _:
            return None


def _response(memory: Memory, method: str, id: str, rest: list[str], query: Mapping[str, str]) -> dict[str, Any] | None:
    """The reply on a route of a stored response. None is at work any more: a response is whole when it is told."""
    reply = memory.reply(id)
    if reply is None or not reply.kept:
        return None
    match method, rest:
        case ("GET", []) | ("POST", ["cancel"]):
            return encoded(told(said_to(reply.turn, reply.body), reply.body), reply.n, DEFAULT)
        case "GET", ["input_items"]:
            given = [item for item in memory.input(reply.body) if isinstance(item, dict)]
            return page([stored(item, f"{reply.n:04d}i{place:04d}") for place, item in enumerate(given)], query)
        case "DELETE", []:
            memory.forget(id)
            return {"id": id, "object": "response", "deleted": True}
        case _:
            return None
