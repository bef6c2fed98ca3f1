"""Text in replies."""

from __future__ import annotations

import json
from collections.abc import Iterable

__all__ = ["error_message", "joined"]


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


def error_message(reply: object) -> str:
    """The provider's own words in an error reply: most wrap them in an object named error, some do not."""
    while isinstance(reply, dict) and (inner := reply.get("error") or reply.get("message")):
        reply = inner
    return reply if isinstance(reply, str) else json.dumps(reply)
