"""Scripts: the turns that a provider answers with, in order, with faults and gates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from looptck.provider.faults import Fault, HttpError
from looptck.provider.gates import Gate
from looptck.values.framing import DEFAULT, Framing
from looptck.values.turns import Turn

RUNAWAY_CAP = 320
"""The most model requests that an endless script answers: above every default limit in use (256 is the highest)."""
SPARE_REQUESTS = 8
"""The most requests beyond the end of a script that get an answer, an error."""


@dataclass(frozen=True, slots=True)
class Hold:
    """In a stream, wait for the gate once this text, or this many events, have left.

    None: all but what says why the model stopped.
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
    """Where the chunks of a streamed body ended, in bytes from its beginning; none: it leaves in one."""
    broken: bool = False
    """Whether the connection broke off after it."""
    id: str | None = None
    """Its own, by which a service with a memory knows it."""

    @property
    def streamed(self) -> bool:
        """Whether it is an event stream."""
        return any(name == "content-type" and value.startswith("text/event-stream") for name, value in self.headers)


@dataclass(frozen=True, slots=True)
class Step:
    """The answer to one model request.

    A step without a turn must be recorded, find its turn by the request, or have a fault that needs none.
    """

    turn: Turn | None
    framing: Framing = DEFAULT
    fault: Fault | None = None
    holds: tuple[Hold, ...] = ()
    before: Gate | None = None
    """Nothing of the reply leaves until this gate is open."""
    forgets: str | None = None
    """Before this request the service loses what it kept: its error code for that, or ``""`` for the usual one."""
    by: Callable[[Any], Turn] | None = None
    """Gives the turn to the body of the request, where the model's answer depends on what it may do."""
    recorded: Recorded | None = None
    """The bytes in which the turn was said: they are played as they are, and framing, faults and holds do not count."""


@dataclass(frozen=True, slots=True)
class Script:
    """Steps in order; after the last, ``endless`` (given the request's number) or nothing."""

    steps: tuple[Step, ...] = ()
    endless: Callable[[int], Step] | None = field(default=None, compare=False)
    most: int = RUNAWAY_CAP
    """The most requests that an endless script answers."""
    stateful: bool = True
    """Whether the service keeps what it has answered, where its wire has server-side state."""

    @property
    def cap(self) -> int:
        """Requests beyond this one are not answered at all."""
        return self.most if self.endless else len(self.steps) + SPARE_REQUESTS

    def step(self, n: int) -> Step | None:
        """What answers request ``n`` (from 1); None past the end."""
        if n <= len(self.steps):
            return self.steps[n - 1]
        return self.endless(n) if self.endless and n <= self.cap else None


def step(what: Turn | Fault | Step) -> Step:
    """A step from its short form: a turn alone, or a fault alone."""
    if isinstance(what, Step):
        return what
    if isinstance(what, Turn):
        return Step(what)
    if isinstance(what, HttpError):
        return Step(None, fault=what)
    raise TypeError(f"{what!r} needs a turn to act on: write Step(turn, fault=…)")
