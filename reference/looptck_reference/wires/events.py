"""What the event streams of all wires have in common: events are JSON objects, and any of them may be an error.

Pieces are collected in lists and joined once, and arguments are parsed by nobody before they are whole, so that the
work is linear in the length of the stream.
"""

from __future__ import annotations

import json
from typing import ClassVar

from looptck_reference.errors import StreamBroken
from looptck_reference.values import Delta, Json, Turn
from looptck_reference.wires.text import refuse_error

__all__ = ["EventStream", "parsed"]

# Streams of long arguments consist of events without text: what they give is made once.
NOTHING = Delta()

# json.loads looks at its options before each text; a decoder has none to look at.
DECODER = json.JSONDecoder()


class EventStream:
    """Collects one stream. A wire says what its events mean, when they are whole, and what turn they then make."""

    end: ClassVar[str]
    """What has to come before the stream is whole, in words."""

    def __init__(self) -> None:
        self.complete = False
        self.calling = False

    def add(self, data: str) -> Delta:
        """Take the data of one event. What follows the end mark belongs to nobody.

        Raises:
            StreamBroken: it is not a JSON object.
            ProviderError: it is an error.
        """
        if self.complete:
            return NOTHING
        if data.startswith("[DONE]"):
            self.done()
            return NOTHING
        event = parsed(data)
        self.refuse_error(event)
        text = self.take(event)
        return Delta(text, self.calling) if text else NOTHING

    def close(self) -> Turn:
        """The turn.

        Raises:
            StreamBroken: the stream is not whole, so nobody knows what is missing.
        """
        if not self.whole():
            raise StreamBroken(f"the stream ended before {self.end}; nothing of the turn was used")
        return self.turn()

    def refuse_error(self, event: Json) -> None:
        """An error is never passed over."""
        refuse_error(event)

    def done(self) -> None:
        """The `[DONE]` of Chat Completions came; elsewhere gateways add it, and it means nothing."""

    def take(self, event: Json) -> str:
        """Keep what the event says; return the text that the caller may see of it."""
        raise NotImplementedError

    def whole(self) -> bool:
        """Whether nothing can be missing."""
        raise NotImplementedError

    def turn(self) -> Turn:
        """What was collected, as a turn."""
        raise NotImplementedError


def parsed(data: str) -> Json:
    """The event in this data.

    Raises:
        StreamBroken: it is not a JSON object.
    """
    try:
        event = DECODER.decode(data)
    except (ValueError, RecursionError) as error:
        raise StreamBroken(f"an event of the stream is not JSON ({error}): {data:.200}") from error
    if not isinstance(event, dict):
        raise StreamBroken(f"an event of the stream is no JSON object: {data:.200}")
    return event
