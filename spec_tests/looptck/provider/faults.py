"""Faults: what a provider can do to a reply. Values only; the mock run carries them out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class HttpError:
    """An error status in place of the reply."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    message: str = "The server had an error while processing your request."


Break = Literal["last-piece", "before-finish", "finish"]
"""Where a stream breaks: in the event that brings the last piece of the last call, or of the text where there is none;
after all events before the first that says why the model stopped; in that event."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The connection closes after this share of the reply's payload, in mid-message; a stream at ``place``, if given.

    Half of a plain reply is no JSON wherever it ends; of a stream it is the events that count.
    """

    share: float = 0.5
    place: Break | None = None


@dataclass(frozen=True, slots=True)
class NoFinish:
    """A stream that ends cleanly, but never says why the model stopped; with or without the end marker."""

    done: bool = True


@dataclass(frozen=True, slots=True)
class ErrorEvent:
    """An error in place of the events from this one on; None: of those that say why the model stopped."""

    after: int | None = None
    message: str = "The server had an error while processing your request."


@dataclass(frozen=True, slots=True)
class Malformed:
    """An event that is no JSON in place of the one at this position."""

    at: int


@dataclass(frozen=True, slots=True)
class NotJson:
    """A page of HTML with status 200, as a broken proxy sends."""


Fault = HttpError | Cut | NoFinish | ErrorEvent | Malformed | NotJson
