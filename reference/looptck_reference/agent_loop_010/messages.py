"""The messages of a context: flat JSON objects with a `type`.

Agent/Data writes `{"type": "data", "kind": …, "data": …}`, Agent/Request also `{role, content}`; here all are flat.
"""

from __future__ import annotations

from typing import Any

from looptck_reference.vocabulary.values import Json

__all__ = ["HIDDEN", "Message", "data", "error_message", "is_message", "text", "visible"]

Message = Json

HIDDEN = frozenset({"_call", "_date", "_outputMethod"})
"""The keys of a result message that name its origin, which the model does not see (Agent/Output)."""

_TYPES = frozenset({"text", "data", "input", "state", "tool", "plan"})


def text(text: str) -> Message:
    """A text message."""
    return {"type": "text", "text": text}


def data(kind: str | None, value: Any, **meta: Any) -> Message:
    """A data message, without `kind` if that is None, and with all `meta` keys (`_call`, `_date` …) but None."""
    named = {} if kind is None else {"kind": kind}
    said = {name: one for name, one in meta.items() if one is not None}
    return {"type": "data", **named, "data": value, **said}


def error_message(call: Json | None, error: Any) -> Message:
    """An Error Message: the failed call as the model wrote it, and the error; without a call if none is to blame.

    Agent/Loop, "The Error Message": a data message that holds `call` and `error`. The kind is ours.
    """
    return data("error", {"call": call, "error": error})


def is_message(value: Any) -> bool:
    """Whether an Activity returned a message, which is appended as it is (Agent/Activity)."""
    if not isinstance(value, dict):
        return False
    type = value.get("type")
    return isinstance(type, str) and type in _TYPES


def visible(message: Message) -> Message:
    """The message as the model may see it: without its own `HIDDEN` keys; its data is unchanged."""
    return {name: value for name, value in message.items() if name not in HIDDEN}
