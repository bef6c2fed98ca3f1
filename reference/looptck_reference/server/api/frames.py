"""Event streams: the common part of all three APIs."""

from __future__ import annotations

import json
from collections.abc import Iterator

from looptck_reference.server.errors import Refused
from looptck_reference.server.events import CallsPiece, Event, Finished, NamedEvent, TextPiece
from looptck_reference.server.values import Answer
from looptck_reference.vocabulary.values import Json, ToolCall

__all__ = ["KEEP_ALIVE", "Frames", "data", "named"]

KEEP_ALIVE = b": keep-alive\n\n"
PIECE = 24
"""Characters of text in one chunk: the model's turns are received whole, and cut into chunks for the client."""


def data(body: Json) -> bytes:
    """An event without a name."""
    return b"data: " + _text(body) + b"\n\n"


def named(name: str, body: Json) -> bytes:
    """An event with a name."""
    return b"event: " + name.encode("ascii") + b"\n" + data(body)


class Frames:
    """One stream in the format of one API. Each method returns the frames of one event."""

    def __init__(self, run_id: str, model: str, created: int) -> None:
        self.run_id = run_id
        self.model = model
        self.created = created

    def frames(self, event: Event) -> list[bytes]:
        """The frames of any event."""
        match event:
            case TextPiece(text):
                return [frame for piece in _pieces(text) for frame in self.text(piece)]
            case CallsPiece(calls):
                return self.calls(calls)
            case Finished(answer):
                return self.end(answer)
            case _:
                return self.agentic_event(event)

    def start(self) -> list[bytes]:
        """The beginning of the stream."""
        return []

    def agentic_event(self, event: NamedEvent) -> list[bytes]:
        """An agentic event, which is the same in all APIs."""
        return [named(event.name, event.body)]

    def text(self, piece: str) -> list[bytes]:
        """A piece of text."""
        raise NotImplementedError

    def calls(self, calls: tuple[ToolCall, ...]) -> list[bytes]:
        """Calls that the client has to run."""
        raise NotImplementedError

    def end(self, answer: Answer) -> list[bytes]:
        """The end of the stream, also if the rounds were used up: every stream ends explicitly."""
        raise NotImplementedError

    def failed(self, error: Refused) -> list[bytes]:
        """The end of a stream whose run has failed."""
        raise NotImplementedError


def _pieces(text: str) -> Iterator[str]:
    return (text[at : at + PIECE] for at in range(0, len(text), PIECE))


def _text(body: Json) -> bytes:
    """JSON in ASCII, because half a surrogate pair has no UTF-8 form."""
    return json.dumps(body, separators=(",", ":")).encode("ascii")
