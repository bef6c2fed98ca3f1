"""Scripts: the replies of a provider, in order, with faults and gates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any

from looptck.provider.faults import Fault, HttpError
from looptck.provider.gate import Gate
from looptck.values.framing import DEFAULT, Framing
from looptck.values.frozen import dataclass
from looptck.values.turns import Turn

RUNAWAY_CAP = 520
"""The most model requests that an endless script answers: above every default limit in use.

The highest is 500, of the Agent Development Kit."""
SPARE_REQUESTS = 8
"""The most requests beyond the end of a script that are answered, with an error."""


@dataclass(frozen=True, slots=True)
class Hold:
    """In a stream, wait for the gate after this text, or this many events, has been sent.

    None: after all events before the finish reason.
    """

    gate: Gate
    after: int | str | None


@dataclass(frozen=True, slots=True)
class Recorded:
    """A reply as a real server sent it."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    ends: tuple[int, ...] = ()
    """The ends of the chunks of a streamed body, in bytes from its beginning; empty: it is sent in one chunk."""
    broken: bool = False
    """Whether the connection broke off after it."""
    id: str | None = None
    """The id of the reply, by which a service with state knows it."""

    @property
    def streamed(self) -> bool:
        """Whether it is an event stream."""
        return any(name == "content-type" and value.startswith("text/event-stream") for name, value in self.headers)


@dataclass(frozen=True, slots=True)
class Step:
    """The answer to one model request.

    A step without a turn must have a recorded reply, a turn made from the request, or a fault that needs none.
    """

    turn: Turn | None
    framing: Framing = DEFAULT
    fault: Fault | None = None
    holds: tuple[Hold, ...] = ()
    before: Gate | None = None
    """The reply is not sent until this gate is open."""
    forgets: str | None = None
    """Before this request the service loses its stored replies: the error code for that, or ``""`` for the default."""
    by: Callable[[Any], Turn] | None = None
    """Makes the turn from the body of the request, if the model's answer depends on it."""
    type: str | None = None
    """The parameters of the reply's content type; None: those of the service."""
    compressed: bool = False
    """Whether the reply is compressed, if the request accepts that (RFC 9110 §12.5.3)."""
    recorded: Recorded | None = None
    """The recorded bytes of the turn: they are sent unchanged, without framing, faults and holds."""


@dataclass(frozen=True, slots=True)
class Script:
    """Steps in order; after the last, ``endless`` (given the request's number) or nothing."""

    steps: tuple[Step, ...] = ()
    endless: Callable[[int], Step] | None = field(default=None, compare=False)
    most: int = RUNAWAY_CAP
    """The most requests that an endless script answers."""
    stateful: bool = True
    """Whether the service stores its replies, on a wire with server-side state."""

    @property
    def cap(self) -> int:
        """Requests beyond this one are not answered at all."""
        return self.most if self.endless else len(self.steps) + SPARE_REQUESTS

    def step(self, n: int) -> Step | None:
        """The step that answers request ``n`` (from 1); None past the end."""
        if n <= len(self.steps):
            return self.steps[n - 1]
        return self.endless(n) if self.endless and n <= self.cap else None


def step(what: Turn | Fault | Step) -> Step:
    """A step from its short form: only a turn, or only a fault."""
    if isinstance(what, Step):
        return what
    if isinstance(what, Turn):
        return Step(what)
    if isinstance(what, HttpError):
        return Step(None, fault=what)
    raise TypeError(f"{what!r} needs a turn to act on: write Step(turn, fault=…)")
