"""The model's side of one run: plays a script, judges the requests, and writes the transcript.

A run has one wire, or several that play the same script from one position. A request for which the script has no step
is recorded and answered with an error in the provider's format. Everything here happens on the provider's thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any
from urllib.parse import parse_qsl

from looptck.provider.gate import Gate
from looptck.provider.habits import Habits
from looptck.provider.http import HttpReply, HttpRequest
from looptck.provider.playing import Playing, Speaker
from looptck.provider.replies import accepts_gzip, named, whole
from looptck.provider.script import Script, Step
from looptck.values.growth import Growth
from looptck.values.history import Request
from looptck.values.jsontext import parsed
from looptck.values.outcome import OVER
from looptck.values.problem import Problem
from looptck.values.transcript import TOO_MUCH, Received, SideRequest, UnroutedRequest
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


class ModelRun(Playing):
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
        side = wire.side(request.method, below, body)
        for speaker in self.speakers.values() if side is None else ():
            if (side := speaker.service.side(request.method, below, query, body)) is not None:
                break
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

    def _made(self, step: Step, received: Received) -> Step:
        """The step as it is played: for a request that is not refused, right before it is."""
        return replace(step, compressed=accepts_gzip(received.headers)) if step.compressed else step


def _refused(wire: Wire, problem: Problem) -> HttpReply:
    return whole(problem.status, wire.refusal(problem))


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
