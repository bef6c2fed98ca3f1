"""The replies of one run while they are sent: what the transcript has of each, and how long they wait at gates."""

from __future__ import annotations

from collections.abc import Callable

from looptck.provider.gate import Gate
from looptck.provider.habits import Habits
from looptck.provider.http import HttpReply, chunked
from looptck.provider.replies import body_of, zipped
from looptck.provider.streamed import Stream
from looptck.values.transcript import Event, GaveUp, HungUp, Replied, Transcript


class Sending:
    """What a run sends, and its transcript."""

    def __init__(self, habits: Habits | None, patience: float, rest: Callable[[], float] | None) -> None:
        """Nothing is sent yet.

        Args:
            habits: what is known of the implementation in this cell.
            patience: seconds for which a gate is waited for.
            rest: for how many seconds the implementation has been at rest.
        """
        self.transcript = Transcript()
        self.habits = habits
        """The habits of the implementation in this cell; None: a stream is held only where its step says so."""
        self.under_way: dict[int, tuple[int, str]] = {}
        """Replies that are not completely sent, by number: status and description."""
        self.streams: dict[int, tuple[bytes, ...]] = {}
        """The writes of each streamed reply, by its number."""
        self.bodies: dict[int, bytes] = {}
        """The body of each other reply, by its number, as far as it is sent."""
        self.headers: dict[int, tuple[tuple[str, str], ...]] = {}
        """The headers that the script has for a reply, by its number."""
        self.held = 0.0
        """Seconds that replies and tools waited at gates."""
        self._patience = patience
        self._rest = rest

    def finish(self) -> None:
        """The run is over. A reply that is not completely sent is recorded as far as the loop has read it."""
        for n in list(self.under_way):
            self._left(n, ", which the loop did not read to its end")

    def _note(self, event: Event) -> None:
        self.transcript.append(event)

    def _parts(self, n: int, stream: Stream, *, compressed: bool = False) -> list[bytes | Gate]:
        """The writes of a stream as chunks, and its gates."""
        self.streams[n] = stream.writes
        if stream.own is not None:
            self.transcript.watchers.append(stream.own.watch)
        parts = zipped(stream.parts) if compressed else stream.parts
        return [part if isinstance(part, Gate) else chunked(part) for part in parts]

    def _noted(self, n: int, status: int, what: str, reply: HttpReply) -> HttpReply:
        self.under_way[n] = status, what
        if n not in self.streams:
            self.bodies[n] = body_of(reply)
        reply.sent = lambda: self._left(n)
        reply.dropped = lambda: self._note(HungUp(self.transcript.now(), n))
        return self._patient(reply)

    def _left(self, n: int, how: str = "") -> None:
        """Record a reply, and only then let it be under way no more: who closes the run looks at that first."""
        if n in self.under_way:
            status, what = self.under_way[n]
            stream, body, headers = self.streams.get(n, ()), self.bodies.get(n, b""), self.headers.get(n, ())
            self._note(Replied(self.transcript.now(), n, status, what + how, stream, body, headers))
            del self.under_way[n]

    def _patient(self, reply: HttpReply) -> HttpReply:
        reply.patience = self._patience
        reply.rest = self._rest
        reply.gave_up = self._gave_up
        reply.waited = self._waited
        return reply

    def _waited(self, seconds: float) -> None:
        self.held += seconds

    def _gave_up(self, gate: Gate) -> None:
        if self.habits is None or not self.habits.waited(gate):
            self._note(GaveUp(self.transcript.now(), gate.name))
