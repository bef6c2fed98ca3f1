"""The common part of all wires' event streams: events are JSON objects, and any of them may be an error.

Pieces are collected in lists and joined once, and arguments are parsed only when they are complete, so that the work is
linear in the length of the stream.
"""

from __future__ import annotations

import json
from typing import ClassVar

from looptck_reference.vocabulary.errors import StreamBroken
from looptck_reference.vocabulary.values import Delta, Json, Turn
from looptck_reference.wires.text import refuse_error

__all__ = ["EventStream", "parsed"]

# Events that say nothing share this one value.
NOTHING = Delta()

# json.loads checks its options for each text; a decoder has none to check.
DECODER = json.JSONDecoder()


class EventStream:
    """Collects one stream. A wire defines the meaning of its events, when they are complete, and the resulting turn."""

    end: ClassVar[str]
    """The event that completes the stream, in words."""

    def __init__(self) -> None:
        self.complete = False
        self.calling = False
        self.written: list[tuple[str, str]] = []

    def add(self, data: str) -> Delta:
        """Take the data of one event. Events after the end mark are ignored.

        Raises:
            StreamBroken: the data is not a JSON object.
            ProviderError: the event is an error.
        """
        if self.complete:
            return NOTHING
        if data.startswith("[DONE]"):
            self.done()
            return NOTHING
        event = parsed(data)
        self.refuse_error(event)
        text = self.take(event)
        if not self.written:
            return Delta(text, self.calling) if text else NOTHING
        written, self.written = self.written, []
        return Delta(text, self.calling, tuple(written))

    def close(self) -> Turn:
        """The turn.

        Raises:
            StreamBroken: the stream is incomplete.
        """
        if not self.whole():
            raise StreamBroken(f"the stream ended before {self.end}; nothing of the turn was used")
        return self.turn()

    def write(self, call_id: str, piece: str) -> None:
        """A piece of the arguments of the call with this id, which the caller may see."""
        if call_id and piece:
            self.written.append((call_id, piece))

    def refuse_error(self, event: Json) -> None:
        """Raise an error event: it is never ignored."""
        refuse_error(event)

    def done(self) -> None:
        """The `[DONE]` of Chat Completions came; on other wires gateways add it, and it has no meaning."""

    def take(self, event: Json) -> str:
        """Keep the content of the event; return the text that the caller may see of it."""
        raise NotImplementedError

    def whole(self) -> bool:
        """Whether the stream is complete."""
        raise NotImplementedError

    def turn(self) -> Turn:
        """The collected turn."""
        raise NotImplementedError


def parsed(data: str) -> Json:
    """The event in this data.

    Raises:
        StreamBroken: the data is not a JSON object.
    """
    try:
        event = DECODER.decode(data)
    except (ValueError, RecursionError) as error:
        raise StreamBroken(f"an event of the stream is not JSON ({error}): {data:.200}") from error
    if not isinstance(event, dict):
        raise StreamBroken(f"an event of the stream is not a JSON object: {data:.200}")
    return event
