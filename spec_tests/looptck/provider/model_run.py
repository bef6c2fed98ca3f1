"""The model's side of one run: plays a script, judges the requests, and writes the transcript.

A run has one wire, or several that play the same script from one position. A request for which the script has no step
is recorded and answered with an error in the provider's format. Everything here happens on the provider's thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any
from urllib.parse import parse_qsl

from looptck.provider import faults
from looptck.provider.encoded import Encoder
from looptck.provider.gate import Gate
from looptck.provider.habits import Habits
from looptck.provider.http import LAST_CHUNK, HttpReply, HttpRequest, head
from looptck.provider.replies import EVENTS, JSON, accepts_gzip, named, plain, typed, whole
from looptck.provider.script import Recorded, Script, Step
from looptck.provider.sending import Sending
from looptck.provider.streamed import recorded, streamed, without_usage
from looptck.values.growth import Bodies, Growth
from looptck.values.history import Request
from looptck.values.jsontext import parsed
from looptck.values.outcome import OVER
from looptck.values.problem import Problem
from looptck.values.transcript import (
    TOO_MUCH,
    Received,
    SideRequest,
    UnroutedRequest,
)
from looptck.values.turns import Turn
from looptck.values.verdicts import NotApplicable
from looptck.wires import Wire
from looptck.wires.wire import Service

_MOST_SIDE_REQUESTS = 100
"""The most requests outside the script that get an answer."""
MOST_BYTES = 64 * 1024 * 1024
"""The most bytes that the bodies of one run's requests may have together."""
MOST_VALUES = 300_000
"""The most values in one body, about: objects, arrays, and commas wherever they are."""
AHEAD = 1000
"""Where two runs go on at the same time, the numbers of the later one begin so far behind."""
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


class ModelRun(Sending):
    """One run's provider, below one path prefix."""

    def __init__(
        self,
        wires: Sequence[Wire],
        script: Script,
        *,
        gates: tuple[Gate, ...] = (),
        patience: float = 5.0,
        habits: Habits | None = None,
        rest: Callable[[], float] | None = None,
        after: ModelRun | None = None,
        mark: str = "",
    ) -> None:
        """A run of this script.

        Args:
            wires: how it speaks.
            script: what it answers.
            gates: gates that its events open.
            patience: seconds for which a gate is waited for.
            habits: what is known of the implementation in this cell.
            rest: for how many seconds the implementation has been at rest.
            after: the run that this one goes on with; the services know what they have answered there.
            mark: words that its requests have, where two runs have one URL at the same time.
        """
        super().__init__(habits, patience, rest)
        self.script = script
        self.prompt: Sequence[str] = ()
        """The texts of the prompt, in a run that offers tools, none of which has a prompt of its own.

        A request that neither offers tools nor has these texts is none of the loop's: a title, a guardrail.
        """
        self.mark = mark.encode()
        self.prefix = ""
        self.turns: dict[int, Turn] = {}
        """The turns that were played, with ids, by the number of the request."""
        self.broken: Exception | None = None
        """The first error in looptck itself while it answered."""
        self.judging = 0.0
        """Seconds that reading and judging requests took."""
        self.speakers: dict[str, Speaker]
        """By route, the first wire first."""
        if after is None:
            self.speakers = {wire.route: Speaker.of(wire, stateful=script.stateful) for wire in wires}
        else:
            self.speakers = after.speakers
        self._before = 0 if after is None else after.answered + (AHEAD if mark else 0)
        """The number of the last reply before this run, by which the ids of its replies differ from those."""
        self.ahead = 0
        """How far its numbers are ahead, so that its ids differ from those of a run that it does not go on with."""
        self.goes_on: bool = after is not None and (after.goes_on or after.asked > 0)
        """Whether it goes on with a run in which the model was asked."""
        self._requests = 0
        self._ids = 0
        self._received = 0
        """The bytes of all bodies so far."""
        self._side_requests = 0
        self.transcript.watchers += [gate.watch for gate in gates]

    @property
    def asked(self) -> int:
        """The number of model requests so far."""
        return self._requests

    @property
    def answered(self) -> int:
        """The number of the last reply, which counts from the runs before it on."""
        return self._before + self.ahead + self._requests

    @property
    def wire(self) -> Wire:
        """The run's wire; of several the first."""
        return next(iter(self.speakers.values())).wire

    @property
    def service(self) -> Service:
        """The service of that wire."""
        return next(iter(self.speakers.values())).service

    def opened(self, prefix: str) -> None:
        """The provider has given the run its path prefix."""
        self.prefix = prefix

    def answer(self, request: HttpRequest) -> HttpReply | None:
        """Answer any request below the prefix. Errors in looptck itself are stored: they are not the loop's fault."""
        try:
            reply = self._route(request)
        except Exception as error:  # noqa: BLE001 - see above
            self._breaks(error)
            return None
        if reply is not None:
            reply.failed = self._breaks
        return reply

    def _breaks(self, error: Exception) -> None:
        self.broken = self.broken or error

    def _route(self, request: HttpRequest) -> HttpReply | None:
        path = self._path(request)
        wire = self._wire_for(request, path)
        if request.wrong:
            self.note_unrouted(request.method, path, request.wrong)
            return whole(400, wire.error_body(400, request.wrong))
        if (why := self._too_much(request)) is not None:
            self.note_unrouted(request.method, path, why)
            return whole(413, wire.error_body(413, why))
        if (why := _unreadable(request)) is not None:
            self.note_unrouted(request.method, path, why)
            return whole(415, wire.error_body(415, why))
        speaker = self.speakers.get(path[3:]) if path.startswith("/v1") else None
        if request.method == "POST" and speaker is not None:
            return self._named(speaker.wire, self._model(speaker, request))
        return self._besides(request, path, wire)

    def _named(self, wire: Wire, reply: HttpReply | None) -> HttpReply | None:
        """A reply of the model with the id of its request, if the service gives one."""
        if reply is None or not wire.request_id:
            return reply
        self._ids += 1
        return named(reply, wire.request_id, self._before + self.ahead + self._ids)

    def _path(self, request: HttpRequest) -> str:
        """The path of a request below the prefix, without its query."""
        return request.path.partition("?")[0].removeprefix(self.prefix)

    def _wire_for(self, request: HttpRequest, path: str) -> Wire:
        """The wire that a request outside the script is answered on."""
        return self.wire

    def _besides(self, request: HttpRequest, path: str, wire: Wire) -> HttpReply | None:
        """Answer a request that is none to the model."""
        below, body = path.removeprefix("/v1"), parsed(request.body)
        query = dict(parse_qsl(request.path.partition("?")[2]))
        stored = (one.service.side(request.method, below, query, body) for one in self.speakers.values())
        side = next((one for one in (wire.side(request.method, below, body), *stored) if one is not None), None)
        if side is not None:
            return self._side_request(request.method, path, "200", whole(200, side))
        self.note_unrouted(request.method, path)
        return whole(404, wire.error_body(404, f"Invalid URL ({request.method} {path})"))

    def _too_much(self, request: HttpRequest) -> str | None:
        """Why a body is more than the kit takes; None where it is not."""
        self._received += len(request.body)
        if self._received > MOST_BYTES:
            return f"{TOO_MUCH} {MOST_BYTES} bytes"
        if sum(map(request.body.count, (b",", b"[", b"{"))) > MOST_VALUES:
            return f"a body has more than {MOST_VALUES} values"
        return None

    def note_unrouted(self, method: str, path: str, why: str = "") -> None:
        """Record a request to an unknown route, or one that is not read; ``why`` it is not."""
        self._note(UnroutedRequest(self.transcript.now(), method, path, why))

    def _side_request(self, method: str, path: str, answered: str, reply: HttpReply) -> HttpReply | None:
        """Record and answer a request outside the script; after the most there may be there is no answer."""
        self._side_requests += 1
        if self._side_requests > self._most_side_requests:
            self.note_unrouted(method, path, f"{TOO_MUCH} {self._most_side_requests} outside the script")
            return None
        self._note(SideRequest(self.transcript.now(), method, path, answered))
        return reply

    # -- the model ---------------------------------------------------------------------------------------------------

    def _model(self, speaker: Speaker, request: HttpRequest) -> HttpReply | None:
        n = self._requests + 1
        if n > self.script.cap:
            return None
        began = perf_counter()
        service = speaker.service
        body, growth = speaker.bodies.parse(request.body)
        step = self._step(n, speaker, body)
        if step is not None and step.forgets is not None:
            service.lose_state(step.forgets or None)
        problems = tuple(
            _with_type(one, request.headers) for one in self._judged(speaker, body, request.headers, growth)
        )
        if problems and problems[0].state_missing and self._excuses_lost_state:
            why = f"{problems[0].status}, {problems[0].code or problems[0].rule}"
            return self._side_request("POST", request.path, why, _refused(speaker.wire, problems[0]))
        self._requests = n
        received = Received(
            at=self.transcript.now(),
            n=n,
            path=request.path,
            headers=request.headers,
            raw=request.body,
            body=body,
            request=self._read(service.read(body, growth)),
            problems=problems,
            scripted=step is not None,
            wire=speaker.wire.name,
        )
        self.judging += perf_counter() - began
        self._note(received)
        if problems:
            return self._noted(n, problems[0].status, "refused", _refused(speaker.wire, problems[0]))
        if step is None:
            over = speaker.wire.error_body(400, f"{OVER} {n}.")
            return self._noted(n, 400, "past the end of the script", whole(400, over))
        return self._play(speaker, n, self._made(step, received), body)

    _most_side_requests = _MOST_SIDE_REQUESTS
    _excuses_lost_state = True
    """Whether a request that relies on state which the service has lost is answered outside the script."""

    def _step(self, n: int, speaker: Speaker, body: Any) -> Step | None:
        """The step for a request; None: the script has none."""
        return self.script.step(n)

    def _judged(
        self, speaker: Speaker, body: Any, headers: Mapping[str, str], growth: Growth | None
    ) -> Sequence[Problem]:
        """What the service would refuse the request for."""
        return speaker.service.judge(body, headers, growth)

    def _read(self, request: Request) -> Request:
        """A request as the transcript has it."""
        return request

    def _spoken(self, turn: Turn) -> Turn:
        """A turn as the service says it."""
        return turn

    def _meant(self, turn: Turn) -> Turn:
        """A turn as the transcript has it."""
        return turn

    def _made(self, step: Step, received: Received) -> Step:
        """The step as it is played: for a request that is not refused, right before it is."""
        return replace(step, compressed=accepts_gzip(received.headers)) if step.compressed else step

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


def _refused(wire: Wire, problem: Problem) -> HttpReply:
    return whole(problem.status, wire.refusal(problem))


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


def _unreadable(request: HttpRequest) -> str | None:
    """Why a body is none that the services read, by its headers; None where it is."""
    encoding = request.headers.get("content-encoding", "") or "identity"
    if request.body and encoding.lower() != "identity":
        return f"the body has the content-encoding {encoding}, and looptck reads none; send it uncompressed"
    return None


def _with_type(problem: Problem, headers: Mapping[str, str]) -> Problem:
    """A problem whose message names the content type where a body that says to be no JSON is none."""
    type = headers.get("content-type", "json")
    if problem.rule != "body-is-an-object" or "json" in type.lower():
        return problem
    return replace(problem, message=f"{problem.message} Its content-type is {type}.")
