"""The replies of one run that its script has: turns, recordings and errors, plain or as streams."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from looptck.provider import faults
from looptck.provider.encoded import Encoder
from looptck.provider.habits import Habits
from looptck.provider.http import LAST_CHUNK, HttpReply, head
from looptck.provider.replies import EVENTS, JSON, plain, typed, whole
from looptck.provider.script import Recorded, Step
from looptck.provider.sending import Sending
from looptck.provider.streamed import recorded, streamed, without_usage
from looptck.values.growth import Bodies
from looptck.values.turns import Turn
from looptck.values.verdicts import NotApplicable
from looptck.wires import Wire
from looptck.wires.wire import Service

_HTML = b"<html><body><h1>502 Bad Gateway</h1></body></html>"


@dataclass(slots=True)
class Speaker:
    """What one wire needs in one run."""

    wire: Wire
    service: Service
    encoder: Encoder
    bodies: Bodies

    @classmethod
    def of(cls, wire: Wire, *, stateful: bool) -> Speaker:
        """A speaker that has said nothing; ``stateful``: whether its service keeps its replies."""
        return cls(wire, wire.service(stateful), Encoder(wire), Bodies())


class Playing(Sending, ABC):
    """What a run plays, and its transcript."""

    def __init__(self, habits: Habits | None, patience: float, rest: Callable[[], float] | None) -> None:
        """Nothing is played yet; see `Sending`."""
        super().__init__(habits, patience, rest)
        self.turns: dict[int, Turn] = {}
        """The turns that were played, with ids, by the number of the request."""

    @property
    @abstractmethod
    def answered(self) -> int:
        """The number of the last reply, which counts from the runs before it on."""

    def _spoken(self, turn: Turn) -> Turn:
        """A turn as the service says it."""
        return turn

    def _meant(self, turn: Turn) -> Turn:
        """A turn as the transcript has it."""
        return turn

    def _play(self, speaker: Speaker, n: int, step: Step, body: Any) -> HttpReply:
        fault, wire = step.fault, speaker.wire
        stream = body.get("stream") is True
        if isinstance(fault, faults.ErrorEvent) and not stream:  # a plain reply has no events: its error is a status
            fault = faults.HttpError(500, message=fault.message)
        if isinstance(fault, faults.HttpError):
            self.headers[n] = fault.headers
            return self._noted(n, fault.status, "an error", _error(wire, fault))
        if isinstance(fault, faults.NotJson):
            page = b"" if fault.empty else _HTML
            reply = HttpReply([head(200, [("content-type", "text/html")], length=len(page)) + page])
            return self._noted(n, 200, "a page of HTML", reply)
        if step.recorded is not None:
            return self._recorded(speaker, n, step.turn, step.recorded, body)
        said = step.by(body) if step.by is not None else step.turn
        if said is None:
            raise ValueError(f"step {n} of the script has neither a turn nor a fault that needs no turn")
        if not wire.can_say(said, stream=stream):
            if wire.can_say(said, stream=not stream):
                mode = "an event stream" if stream else "a plain reply"
                raise NotApplicable(f"request {n} asks for {mode}, in which the service cannot say what is played")
            raise ValueError(f"{wire.name} cannot express the turn of step {n}: {said}")
        turn = said.numbered(self.answered)
        self.turns[n] = self._meant(turn)
        turn = self._spoken(turn)
        framing = wire.framed(step.framing)
        if (framing.usage is None or turn.usage is not None) and not wire.tells_usage(body):
            framing = framing.but(usage=False)
        step = replace(step, framing=framing)
        if fault is None:
            speaker.service.replied(body, self.answered, turn)
        reply = self._says(speaker, n, wire.said_to(turn, body), step, stream=stream)
        if step.before is not None:
            reply.parts.insert(0, step.before)
        what = "a turn" if fault is None else f"a turn, with the fault {type(fault).__name__}"
        return self._noted(n, 200, what, reply)

    def _recorded(self, speaker: Speaker, n: int, turn: Turn | None, reply: Recorded, body: Any) -> HttpReply:
        """The recorded bytes in the recorded chunks, and the recorded break.

        A turn that was recorded plain is sent as a stream if the request asks for one, as the service would do; one
        that calls a tool by another name than the loop offers is made anew with that name.
        """
        what = f"a recorded reply of status {reply.status}"
        streams = isinstance(body, dict) and body.get("stream") is True
        if turn is not None:
            what = "a turn"
            self.turns[n] = turn
            spoken = self._spoken(turn)
            speaker.service.replied(body, self.answered, spoken, reply.id)
            unlike = spoken != turn or (streams and not reply.streamed)
            if unlike and speaker.wire.can_say(turn, stream=streams):
                return self._noted(n, 200, what, self._says(speaker, n, spoken, Step(spoken), stream=streams))
        headers = list(reply.headers)
        self.headers[n] = tuple(one for one in headers if one[0] != "content-type")
        if not reply.streamed:
            length = len(reply.body) + reply.broken  # a broken reply is shorter than announced
            told = head(reply.status, headers, length=length) + reply.body
            return self._noted(n, reply.status, what, HttpReply([told], then_close=reply.broken))
        sent = reply if speaker.wire.tells_usage(body) else without_usage(speaker.wire, reply)
        stream = recorded(speaker.wire, turn, sent, self.habits)
        parts = self._parts(n, stream)
        if not reply.broken:
            parts.append(LAST_CHUNK)
        start = head(reply.status, headers, length=None)
        return self._noted(n, reply.status, what, HttpReply([start, *parts], then_close=reply.broken))

    def _says(
        self, speaker: Speaker, n: int, turn: Turn, step: Step, *, stream: bool, number: int | None = None
    ) -> HttpReply:
        """The reply to request ``n`` that says a turn; ``number``: of the reply, if it is not the next."""
        number = number or self.answered
        if not stream:
            return plain(speaker.encoder, number, turn, step)
        meant = self.turns.get(n)
        habits = self.habits if meant is None or meant.calls else None  # nothing can begin in a turn without calls
        events = streamed(speaker.wire, turn, number, step, habits, speaker.encoder)
        parts = self._parts(n, events, compressed=step.compressed)
        parts[0] = head(200, typed(EVENTS, step), length=None) + parts[0]  # type: ignore[operator]
        if not events.broken:
            parts[-1] = parts[-1] + LAST_CHUNK  # type: ignore[operator]
        return HttpReply(parts, then_close=events.broken)


def _error(wire: Wire, fault: faults.HttpError) -> HttpReply:
    """The reply of a service that fails, or of whoever is before it and has another form of errors."""
    if fault.body is None:
        error = wire.error_body(fault.status, fault.message)
        if fault.code is not None:
            error["error"]["code" if "code" in error["error"] else "type"] = fault.code
        return whole(fault.status, error, [*JSON, *fault.headers])
    kind = "application/json" if fault.body.startswith("{") else "text/plain; charset=utf-8"
    data = fault.body.encode()
    return HttpReply([head(fault.status, [("content-type", kind), *fault.headers], length=len(data)) + data])
