"""The address of a mock: all wires under one base URL, one script, and a judge for every request.

A path may begin with ``/v1``, or not, or do so twice, because SDKs add it to a base URL or expect it there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from traceback import extract_tb
from typing import Any

from looptck.mock import findings
from looptck.mock.echoes import Repeated, repeated, repeating
from looptck.mock.findings import Finding
from looptck.mock.foreign import without_foreign
from looptck.mock.playlist import Conversation, Playlist, step_of
from looptck.mock.recorder import Recorder
from looptck.mock.requests import Request
from looptck.provider import faults
from looptck.provider.encoded import Encoder
from looptck.provider.gate import Gate
from looptck.provider.http import HttpReply, HttpRequest
from looptck.provider.model_run import ModelRun
from looptck.provider.playing import Speaker
from looptck.provider.replies import whole
from looptck.provider.script import Script, Step
from looptck.values.growth import Growth
from looptck.values.problem import Problem
from looptck.values.transcript import Received, Replied
from looptck.values.turns import Thinking
from looptck.wires import WIRES, Wire

ENDLESS = Script(endless=lambda _: Step(None), most=sys.maxsize)
"""The conversations of the mock decide what is played; no number of requests is too many."""
_LOOKING = frozenset({"GET", "HEAD", "OPTIONS"})
FORGETS = 20_000
"""After as many requests an endpoint that keeps only the latest loses what its services have stored."""
MOST_EVENTS = 4000
"""The most events that the transcript of a mock keeps."""
MOST_KEPT = 32 * 1024 * 1024
"""About how many bytes of requests and replies an endpoint keeps that keeps only the latest."""


class Endpoint(ModelRun):
    """A run of the provider whose script may grow while it is played.

    Args:
        wires: the wires that it speaks.
        patience: seconds that a reply waits for a gate.
        keeps: how many of the latest requests it keeps; None: all.
        closes: whether it closes each connection behind its reply, so that no client keeps one for another event loop.
    """

    _most_side_requests = sys.maxsize

    def __init__(
        self,
        wires: Iterable[Wire] = tuple(WIRES.values()),
        *,
        patience: float = 5.0,
        keeps: int | None = None,
        closes: bool = False,
    ) -> None:
        self._repeated: Repeated = {}
        """What the reply under way repeats of its request."""
        super().__init__([repeating(wire, lambda: self._repeated) for wire in wires], ENDLESS, patience=patience)
        self.playlist = Playlist()
        self.requests: list[Request] = []
        """The requests to the model, in order."""
        self.findings: list[Finding] = []
        """What was wrong so far; a script that is not played to its end is not among it."""
        self.judges = True
        """Whether requests are judged."""
        self.played = 0
        """How many answers were played."""
        self.count = 0
        """How many requests to the model have come."""
        self._number = 0
        """The number of the last request to the model, which may not be noted yet."""
        self.on_answer: Callable[[Request, Step | None], None] | None = None
        """Called with each request to the model and what answers it; None: it is refused, or the script is over."""
        self.recorder: Recorder | None = None
        """Answers instead of the script; None: nothing is recorded."""
        self._keeps = keeps
        self._closes = closes
        self._taking: Conversation | None = None
        self._thoughts: set[str] = set()
        """The texts of the thinking that was sent."""
        self._excuses_lost_state = False
        self._bytes = 0
        """The bytes of the requests and replies in the transcript."""
        self._since = 0
        """Those of the requests since the services have lost what they had stored."""

    def found(self, finding: Finding) -> None:
        """Note that something is wrong."""
        self.findings.append(finding)
        if self._keeps is not None:
            del self.findings[: -self._keeps]

    def answer(self, request: HttpRequest) -> HttpReply | None:
        """As every run does; what raises becomes a finding, and an error that no client repeats the request for."""
        reply = self._answered(request)
        if reply is not None:
            reply.closes = self._closes
            reply.failed = self._breaks
        return reply

    def _answered(self, request: HttpRequest) -> HttpReply | None:
        try:
            return self._route(request)
        except Exception as error:  # noqa: BLE001 - a function of the test may raise anything
            wire = self._wire_for(request, self._path(request))
            what = f"{type(error).__name__}: {error}"
            raised = extract_tb(error.__traceback__)[-1]
            place = f"{raised.filename}:{raised.lineno}: {raised.line}"
            text = f"request {self._number} could not be answered: {what}\n  {place}"
            self.found(Finding("error", text, self._number))
            self._breaks(error)
            return whole(400, wire.error_body(400, f"looptck: {what}"))

    def note_unrouted(self, method: str, path: str, why: str = "") -> None:
        """As every run does. Whoever only looks whether something is there has done no wrong."""
        super().note_unrouted(method, path, why)
        if method not in _LOOKING:
            where = f"{method} {path}"
            text = f"a request was not read: {where}: {why}" if why else f"there is no such route: {where}"
            self.found(Finding("unrouted", text))

    def _path(self, request: HttpRequest) -> str:
        path = super()._path(request)
        while path.startswith("/v1/"):
            path = path[3:]
        return f"/v1{path}"

    def _wire_for(self, request: HttpRequest, path: str) -> Wire:
        by_path = next((one.wire for route, one in self.speakers.items() if path.startswith(f"/v1{route}")), None)
        if by_path is not None:
            return by_path
        wanted = "/messages" if "anthropic-version" in request.headers else "/responses"
        return self.speakers[wanted].wire if wanted in self.speakers else self.wire

    def _model(self, speaker: Speaker, request: HttpRequest) -> HttpReply | None:
        if self.recorder is None:
            return super()._model(speaker, request)
        self._requests += 1
        body, growth = speaker.bodies.parse(request.body)
        read = speaker.service.read(body, growth)
        at, wire = self.transcript.now(), speaker.wire
        raw, path = request.body, request.path
        self._note(
            Received(at, self._requests, path, request.headers, raw, body, read, (), scripted=True, wire=wire.name)
        )
        return self.recorder.answer(request, wire.name, wire.route)

    def _step(self, n: int, speaker: Speaker, body: Any) -> Step | None:
        def request() -> Request:
            read = speaker.service.read(body)
            return Request(Received(0.0, n, "", {}, b"", body, read, (), scripted=True, wire=speaker.wire.name))

        self._number = n
        self._taking = self.playlist.conversation(body, request)
        item = self._taking.next() if self._taking is not None else None
        if item is None:
            return None
        if isinstance(item, Step) and item.forgets is not None:
            self._excuses_lost_state = True
            return item
        return Step(None)

    def _judged(
        self, speaker: Speaker, body: Any, headers: Mapping[str, str], growth: Growth | None
    ) -> Sequence[Problem]:
        if not self.judges and isinstance(body, dict):
            return ()
        found = super()._judged(speaker, body, headers, growth)
        if found:
            return without_foreign(speaker.wire.name, body, found, self._thoughts)
        return found

    def _too_much(self, request: HttpRequest) -> str | None:
        self._received = 0  # what a mock has got may have any size; it keeps as much as it was told to
        return super()._too_much(request)

    def _note(self, event: Any) -> None:
        super()._note(event)
        if isinstance(event, Received):
            self._note_request(event)
        if len(self.transcript.events) > 2 * MOST_EVENTS:
            self._drop(len(self.transcript.events) - MOST_EVENTS)
        self._bytes += _size(event)
        if self._keeps is not None and self._bytes > MOST_KEPT:
            self._keep_less()

    def _drop(self, count: int) -> None:
        """Lose the earliest events of the transcript."""
        self._bytes -= sum(map(_size, self.transcript.events[:count]))
        del self.transcript.events[:count]

    def _keep_less(self) -> None:
        """Lose the earliest half of what is kept, but not the latest request."""
        half, count = self._bytes // 2, 0
        for event in self.transcript.events[:-1]:
            if half <= 0:
                break
            half -= _size(event)
            count += 1
        self._drop(count)
        kept = sum(isinstance(event, Received) for event in self.transcript.events)
        del self.requests[: -max(kept, 1)]

    def _note_request(self, received: Received) -> None:
        request = Request(received)
        self.count += 1
        self.requests.append(request)
        if self._keeps is not None:
            del self.requests[: -self._keeps]
        self._since += len(received.raw)
        if self._keeps is not None and (self.count % FORGETS == 0 or self._since > 2 * MOST_KEPT):
            self._forget()
        if request.refused_for:
            self.found(findings.refused(request))
        elif not received.scripted:
            self.found(findings.beyond(request, self.played))
        if self.on_answer is not None and (request.refused_for or not received.scripted):
            self.on_answer(request, None)

    def _forget(self) -> None:
        """Lose what the services have stored, so that they do not grow for ever; what relies on it is no mistake."""
        self._excuses_lost_state = True
        self._since = 0
        for speaker in self.speakers.values():
            speaker.service = speaker.wire.service(True)

    def _made(self, step: Step, received: Received) -> Step:
        assert self._taking is not None
        item = self._taking.next()
        assert item is not None
        self._taking.played += 1
        self.played += 1
        request = Request(received)
        self._repeat(received)
        made = step_of(item, request)
        if made.turn is not None:
            self._thoughts |= {piece.text for piece in made.turn.pieces if isinstance(piece, Thinking)}
        if isinstance(made.fault, faults.ErrorEvent) and not request.stream:
            made = replace(made, fault=faults.HttpError(500, message=made.fault.message))
        if self.on_answer is not None:
            self.on_answer(request, made)
        return made

    def _repeat(self, received: Received) -> None:
        """Let the next reply repeat what this request says; turns are encoded anew where that has changed."""
        told = repeated(received.wire, received.body)
        if told != self._repeated:
            self._repeated = told
            for speaker in self.speakers.values():
                speaker.encoder = Encoder(speaker.wire)

    def _left(self, n: int, how: str = "") -> None:
        super()._left(n, how)
        for kept in (self.turns, self.streams, self.bodies):
            kept.pop(n, None)

    def _gave_up(self, gate: Gate) -> None:
        super()._gave_up(gate)
        self.found(Finding("waited", f"the gate {gate.name!r} was not opened in {self._patience:g} s"))


def _size(event: Any) -> int:
    """About how many bytes of a request or a reply an event holds."""
    match event:
        case Received():
            return len(event.raw)
        case Replied():
            return len(event.body) + sum(map(len, event.stream))
        case _:
            return 0
