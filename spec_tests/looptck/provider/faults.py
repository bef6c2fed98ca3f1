"""Faults that a provider can put into a reply. They are values; the mock run carries them out."""

from __future__ import annotations

from typing import Literal

from looptck.values.frozen import dataclass


@dataclass(frozen=True, slots=True)
class HttpError:
    """An error status instead of the reply."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    message: str = "The server had an error while processing your request."
    code: str | None = None
    """The service's own code or type of the error; None: the one that belongs to the status."""
    body: str | None = None
    """The whole body, as a server or a proxy writes it that has another form of errors; None: the service's own."""


Break = Literal["last-piece", "before-finish", "finish"]
"""Where a stream breaks: in the event with the last piece of the last call (or of the text if there are no calls), just
before the first event with the finish reason, or within that event."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The connection closes after this share of the reply's payload, or, in a stream, at ``place`` if given.

    Half of a plain reply is never valid JSON; in a stream it matters which events are lost.
    """

    share: float = 0.5
    place: Break | None = None


@dataclass(frozen=True, slots=True)
class NoFinish:
    """A stream that ends cleanly without a finish reason; ``done``: with the end marker."""

    done: bool = True


@dataclass(frozen=True, slots=True)
class ErrorEvent:
    """An error event instead of the events from this position on; None: from the finish reason on.

    A request that asks for a plain reply gets an error status in its place.
    """

    after: int | None = None
    message: str = "The server had an error while processing your request."


@dataclass(frozen=True, slots=True)
class Malformed:
    """An event that is not JSON instead of the one at this position."""

    at: int


@dataclass(frozen=True, slots=True)
class NotJson:
    """A page of HTML with status 200, as a broken proxy sends it; ``empty``: a page with nothing in it."""

    empty: bool = False


Fault = HttpError | Cut | NoFinish | ErrorEvent | Malformed | NotJson
