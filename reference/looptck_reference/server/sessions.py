"""Sessions: the history that is stored at the end of a run, and how it is merged into the next run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from looptck_reference.server.bounded import Shelf
from looptck_reference.server.values import Message
from looptck_reference.vocabulary.values import Json

__all__ = ["Session", "Sessions", "splice_by_id", "splice_visible", "weight_of"]


@dataclass(frozen=True, slots=True)
class Session:
    """A history, the tools that the client has approved for the session, and the state of its Python code."""

    messages: tuple[Message, ...]
    remembered: frozenset[str] = field(default_factory=frozenset)
    python: bytes = b""


Sessions = Shelf[Session]


def weight_of(session: Session) -> int:
    """The size of its messages as JSON and of its Python state, in bytes."""
    return sum(len(json.dumps(message.body)) for message in session.messages) + len(session.python)


def splice_visible(stored: Sequence[Message], incoming: Sequence[Message]) -> list[Message]:
    """The request's messages, with hidden messages restored after the messages that they followed.

    The first difference ends the restoration: stored messages after it belong to another conversation. A hidden message
    that the request repeats is not restored twice.
    """
    merged: list[Message] = []
    left = list(incoming)
    for message in stored:
        if left and _same(message.body, left[0].body):
            merged.append(left.pop(0))
        elif message.hidden:
            merged.append(message)
        else:
            break
    return [*merged, *left]


def splice_by_id(stored: Sequence[Message], incoming: Sequence[Message]) -> list[Message]:
    """The stored history followed by the request's messages, or merged if the request repeats its beginning.

    The request repeats the beginning if its first message other than instructions is the stored one. Instructions are
    not stored twice.
    """
    first_stored = _first_said(stored)
    first_said = _first_said(incoming)
    if first_stored is None or first_said is None or _same(first_stored.body, first_said.body):
        return splice_visible(stored, incoming)
    known = [message.body for message in stored]
    return [*stored, *(message for message in incoming if not _instructs(message) or message.body not in known)]


def _first_said(messages: Sequence[Message]) -> Message | None:
    return next((message for message in messages if not _instructs(message)), None)


def _instructs(message: Message) -> bool:
    return message.body.get("role") in {"system", "developer"}


def _same(one: Json, other: Json) -> bool:
    return _shape(one) == _shape(other)


def _shape(message: Json) -> tuple[object, ...]:
    """The content of a message in a normal form.

    A string equals a single text part, and arguments are compared as JSON: the Messages API has parsed arguments, so
    its clients cannot repeat the model's own text.
    """
    content = message.get("content") or ""
    if isinstance(content, list) and all(part.get("type") == "text" for part in content):
        content = "".join(part.get("text", "") for part in content)
    calls = [_called(call) for call in message.get("tool_calls") or ()]
    return message.get("role"), content, calls, message.get("tool_call_id")


def _called(call: Json) -> tuple[object, ...]:
    function = call.get("function") or {}
    arguments = function.get("arguments")
    try:
        return call.get("id"), function.get("name"), json.loads(str(arguments))
    except (ValueError, RecursionError):
        return call.get("id"), function.get("name"), arguments
