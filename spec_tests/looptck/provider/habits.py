"""Habits: whether an implementation starts calls before the end of the stream, learnt from the streams themselves.

The verdict on a loop that starts calls early would depend on a race, unless the stream is held between a complete call
and the fault that invalidates its turn. A hold costs the full patience if no call starts, so a place at which the
implementation once waited is not held again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from looptck.provider.gate import Gate
from looptck.provider.gates import ABSENCE
from looptck.values.framing import Framing
from looptck.values.frozen import dataclass
from looptck.values.transcript import Event, ToolBegan

LEARNING = 2 * ABSENCE
"""Seconds without a call after which an implementation counts as one that waits; later runs rely on this."""
AT_WORK = 10
"""How often, at most, these seconds begin again because the implementation is still running code."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a stream, and what was sent before it."""

    wire: str
    framing: Framing
    pieces: tuple[str, ...]
    """The kinds of the turn's pieces from its first call on; for a call, whether it is complete."""
    ahead: int
    """The number of events between the place and the first event with the finish reason."""


@dataclass(slots=True)
class Habits:
    """The observations of one implementation in one cell."""

    at_work: Callable[[], bool] = lambda: False
    """Whether the implementation runs or waits for a processor, or has run a moment ago: then it does not wait for the
    stream."""
    learning: float = LEARNING
    """Seconds without a call after which it counts as one that waits."""
    _waits: set[Place] = field(default_factory=set)
    """The places at which it started no call."""
    _held: dict[Gate, Place] = field(default_factory=dict)

    def gate(self, place: Place) -> Gate | None:
        """The gate for a stream at this place: it opens when a tool begins.

        None: the implementation is known to wait here.
        """
        if place in self._waits:
            return None
        gate = Gate("a call starts before the stream has the finish reason", _begins, self.learning, if_ever=True)
        left = iter(range(AT_WORK))
        gate.not_while = lambda: self.at_work() and next(left, None) is not None
        self._held[gate] = place
        return gate

    def waited(self, gate: Gate) -> bool:
        """Record that a gate did not open in time: its place is not held again. False if it is another kind of gate."""
        place = self._held.pop(gate, None)
        if place is not None:
            self._waits.add(place)
        return place is not None


def _begins(event: Event) -> bool:
    return isinstance(event, ToolBegan)
