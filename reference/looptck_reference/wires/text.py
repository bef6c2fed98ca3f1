"""Text in replies, and errors in place of replies."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from looptck_reference.vocabulary.errors import MalformedReply, ProviderError
from looptck_reference.vocabulary.values import Json

__all__ = ["error_message", "joined", "member", "refuse_error", "text_at"]


def joined(pieces: Iterable[str]) -> str:
    """The pieces of a text as one text.

    JSON writes a character outside the Basic Multilingual Plane as two escapes. Servers that cut text between UTF-16
    units send them in two events, and only both halves together are a character.
    """
    text = "".join(pieces)
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def text_at(part: Mapping[str, Any], name: str) -> str:
    """The string under this name, "" if there is none.

    Raises:
        MalformedReply: the value is not a string.
    """
    text = part.get(name)
    if text is None:
        return ""
    if not isinstance(text, str):
        raise MalformedReply(f"the {name} of a reply is not a string: {text!r:.200}")
    return text


def member(part: Mapping[str, Any], name: str) -> Json:
    """The object under this name.

    Raises:
        MalformedReply: there is none.
    """
    value = part.get(name)
    if not isinstance(value, dict):
        raise MalformedReply(f"the wire requires an object under {name!r}: {part!r:.200}")
    return value


def refuse_error(reply: Json) -> None:
    """Raise the error in a reply or event, which may come with status 200, also in the middle of a stream.

    Some wires wrap it in an object named error, some mark it by the type, and compatible servers omit the type.

    Raises:
        ProviderError: the reply or event is an error.
    """
    if reply.get("error") is not None or reply.get("type") == "error":
        raise ProviderError(f"the provider reported an error: {error_message(reply)}")


def error_message(reply: object) -> str:
    """The provider's own words in an error reply: most wrap them in an object named error, some do not."""
    while isinstance(reply, dict) and (inner := reply.get("error") or reply.get("message")):
        reply = inner
    return reply if isinstance(reply, str) else json.dumps(reply)
