"""Whether a reply has the encrypted content of its reasoning items.

A request that says ``store: false`` gets it if its ``include`` asks for it, and has to return it: the service knows the
item by nothing else. In 10 of 10 recorded replies of OpenAI and Azure to requests that say the one and do not ask for
the other it is not there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from looptck.values.turns import Thinking, Turn

INCLUDED = "reasoning.encrypted_content"
"""What `include` says."""


def tells_encrypted(body: Any) -> bool:
    """Whether the reply to a request has encrypted content."""
    included = body.get("include")
    return body.get("store") is not False or (isinstance(included, list) and INCLUDED in included)


def said_to(turn: Turn, body: Any) -> Turn:
    """A turn as the service says it in its reply to this request."""
    if tells_encrypted(body) or not any(isinstance(piece, Thinking) for piece in turn.pieces):
        return turn
    kept = (replace(piece, withheld=True) if isinstance(piece, Thinking) else piece for piece in turn.pieces)
    return replace(turn, pieces=tuple(kept))
