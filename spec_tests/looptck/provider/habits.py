"""Habits: whether an implementation starts calls of a stream early, learnt from the streams themselves.

A loop that starts calls while the model still writes is judged by a race unless the stream is held between a whole call
and what makes its turn a lost one. Such a hold costs the patience for what does not happen, so that a place at which
the implementation was seen to wait is not held a second time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from looptck.provider.gates import ABSENCE, Gate
from looptck.values.framing import Framing
from looptck.values.transcript import Event, ToolBegan

LEARNING = 2 * ABSENCE
"""Seconds without a call after which an implementation is known to wait: all that comes later rests on them."""
AT_WORK = 10
"""So many times its seconds begin anew, at most, because the implementation is at work when they are over."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a stream, and what had left before it."""

    wire: str
    framing: Framing
    pieces: tuple[str, ...]
    """The kinds of the turn's pieces from its first call on; of a call whether it is whole."""
    ahead: int
    """The events between it and the first that says why the model stopped."""


@dataclass(slots=True)
class Habits:
    """What was seen of one implementation in one cell."""

    at_work: Callable[[], bool] = lambda: False
    """Whether it works, or waits for a processor, at this moment: it has not been seen to wait for the stream."""
    _waits: set[Place] = field(default_factory=set)
    """Where it started nothing."""
    _held: dict[Gate, Place] = field(default_factory=dict)

    def gate(self, place: Place) -> Gate | None:
        """What to hold a stream with here: until a tool begins, or the implementation is known to wait.

        None: it is known.
        """
        if place in self._waits:
            return None
        gate = Gate("a call starts before the stream says why the model stopped", _begins, LEARNING)
        left = iter(range(AT_WORK))
        gate.not_while = lambda: self.at_work() and next(left, None) is not None
        self._held[gate] = place
        return gate

    def waited(self, gate: Gate) -> bool:
        """Whether this gate, which was not opened in time, is one of these; nothing is held there from now on."""
        place = self._held.pop(gate, None)
        if place is not None:
            self._waits.add(place)
        return place is not None


def _begins(event: Event) -> bool:
    return isinstance(event, ToolBegan)
