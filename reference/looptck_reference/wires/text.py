"""Text in replies, and the errors that they may be instead."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from looptck_reference.errors import MalformedReply, ProviderError
from looptck_reference.values import Json

__all__ = ["error_message", "joined", "member", "refuse_error", "text_at"]


def joined(pieces: Iterable[str]) -> str:
    """The pieces of a text as one text.

    JSON writes a character outside the Basic Multilingual Plane as two escapes, and servers that cut their text
    between UTF-16 units send the two in two events: halves that only together are a character.
    """
    text = "".join(pieces)
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def text_at(part: Mapping[str, Any], name: str) -> str:
    """The text under this name, "" if there is none.

    Raises:
        MalformedReply: there is something that is no text.
    """
    text = part.get(name)
    if text is None:
        return ""
    if not isinstance(text, str):
        raise MalformedReply(f"the {name} of a reply is no text: {text!r:.200}")
    return text


def member(part: Mapping[str, Any], name: str) -> Json:
    """The object under this name.

    Raises:
        MalformedReply: there is none.
    """
    value = part.get(name)
    if not isinstance(value, dict):
        raise MalformedReply(f"there is no object under {name!r} where the wire has one: {part!r:.200}")
    return value


def refuse_error(reply: Json) -> None:
    """An error may come with status 200, also in the middle of a stream.

    Some wires wrap it in an object named error, some say so by the type, and compatible servers forget the type.

    Raises:
        ProviderError: the reply or event is one.
    """
    if reply.get("error") is not None or reply.get("type") == "error":
        raise ProviderError(f"the provider reported an error: {error_message(reply)}")


def error_message(reply: object) -> str:
    """The provider's own words in an error reply: most wrap them in an object named error, some do not."""
    while isinstance(reply, dict) and (inner := reply.get("error") or reply.get("message")):
        reply = inner
    return reply if isinstance(reply, str) else json.dumps(reply)
