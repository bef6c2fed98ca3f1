"""Exports of sessions, read into the provider-neutral form: plain messages, or tagged ``Left`` and ``Right``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from looptck.values.history import Answered, Asked, Item, Said
from looptck.values.verdicts import NotReached

_TAGS = ({"Left"}, {"Right"})


def exported(body: Any) -> list[Item]:
    """The messages of an export, in their order. The empty text of a message with calls is left out.

    A result that does not say whose it is belongs to the first call before it that has none.

    Raises:
        NotReached: it is of no known form.
    """
    try:
        return list(_items([_untagged(message) for message in body["messages"]]))
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise NotReached(f"the export cannot be read: {error!r}: {json.dumps(body)[:300]}") from error


def _items(messages: list[dict[str, Any]]) -> Iterator[Item]:
    waiting: list[str] = []
    for message in messages:
        text = _text(message.get("content"))
        if message["role"] == "tool":
            id = message.get("tool_call_id") or (waiting[0] if waiting else "")
            waiting = [one for one in waiting if one != id]
            yield Answered(id, text)
            continue
        calls = message.get("tool_calls") or ()
        if text or not calls:
            yield Said(message["role"], text)
        for call in calls:
            function = call["function"]
            arguments = function["arguments"]
            waiting.append(call["id"])
            yield Asked(
                call["id"], function["name"], arguments if isinstance(arguments, str) else json.dumps(arguments)
            )


def _text(content: Any) -> str:
    """All the text of a message; that of parts is joined."""
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)
    return content or ""


def _untagged(message: dict[str, Any]) -> dict[str, Any]:
    return {name: next(iter(value.values())) if _is_tagged(value) else value for name, value in message.items()}


def _is_tagged(value: Any) -> bool:
    return isinstance(value, dict) and set(value) in _TAGS
