"""The news of a run, as the protocol says them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from looptck_reference.http.stepping import OnNews
from looptck_reference.vocabulary.news import Called, News, Over, Resulted, Written
from looptck_reference.vocabulary.values import Json

__all__ = ["Emit", "tells"]

Emit = Callable[[Any], object]
"""Takes a piece of text, or an event."""


def tells(emit: Emit) -> OnNews:
    """What emits each piece of news as an event."""
    return lambda news: emit(_event(news))


def _event(news: News) -> Json:
    """The event for a piece of news."""
    match news:
        case Written(call_id, piece):
            return {"kind": "arguments", "call_id": call_id, "text": piece}
        case Called(call):
            return {"kind": "call", "call_id": call.id, "name": call.name, "arguments": call.arguments}
        case Resulted(result):
            told = {"result": result.text, "failed": result.failed}
            return {"kind": "result", "call_id": result.call_id, **told}
        case Over(how):
            return {"kind": "end", "how": how}
