"""The provider's side of one run: plays its script, judges its requests, runs its tools and writes its transcript.

A request for which the script has no step is recorded and answered with an error in the provider's format. Everything
here happens on the provider's thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any
from urllib.parse import unquote

from looptck.provider import faults
from looptck.provider.confirmation import Confirmation
from looptck.provider.encoded import Encoder
from looptck.provider.gates import Gate
from looptck.provider.habits import Habits
from looptck.provider.http import LAST_CHUNK, HttpReply, HttpRequest, chunked, head
from looptck.provider.script import Recorded, Script, Step
from looptck.provider.streamed import Stream, recorded, streamed
from looptck.provider.toolbox import Answers, Behaviour, HangsUp, Raises, Returns, Toolbox
from looptck.values.growth import Bodies
from looptck.values.jsontext import compact, parsed
from looptck.values.problem import Problem
from looptck.values.transcript import (
    ByKind,
    ConfirmAnswered,
    ConfirmAsked,
    Dispatched,
    Event,
    GaveUp,
    HungUp,
    Received,
    Replied,
    SideRequest,
    ToolBegan,
    ToolEnded,
    Transcript,
    UnroutedRequest,
)
from looptck.values.turns import Turn
from looptck.wires import Wire
from looptck.wires.wire import Service

_JSON = [("content-type", "application/json")]
_EVENTS = [("content-type", "text/event-stream; charset=utf-8"), ("cache-control", "no-cache")]
_MOST_SIDE_REQUESTS = 100
"""The most requests outside the script that get an answer."""
MOST_BYTES = 64 * 1024 * 1024
"""The most bytes that the bodies of one run's requests may have together."""
MOST_VALUES = 300_000
"""The most values in one body, about: objects, arrays, and commas wherever they are."""
_OF_A_KIND = {"tool", "arguments", "agent", "inputs"}
_HTML = b"<html><body><h1>502 Bad Gateway</h1></body></html>"


class MockRun:
    """One run's provider and toolbox, below one path prefix."""

    def __init__(
        self,
        wire: Wire,
        script: Script,
        toolbox: Toolbox,
        *,
        gates: tuple[Gate, ...] = (),
        patience: float = 5.0,
        confirmation: Confirmation | None = None,
        habits: Habits | None = None,
        rest: Callable[[], float] | None = None,
        after: MockRun | None = None,
        mark: str = "",
    ) -> None:
        """A mock run of this script.

        Args:
            wire: how it speaks.
            script: what it answers.
            toolbox: what the tools do.
            gates: gates that its events open.
            patience: seconds for which a gate is waited for.
            confirmation: the decisions about calls.
            habits: what is known of the implementation in this cell.
            rest: for how many seconds the implementation has been at rest.
            after: the mock run that this one goes on with; the service knows what it has answered there.
            mark: words that its requests have, where two runs have one URL.
        """
        self.wire = wire
        self.script = script
        self.toolbox = toolbox
        self.confirmation = confirmation or Confirmation()
        self.prefix = ""
        self.mark = mark.encode()
        self.transcript = Transcript()
        self.turns: dict[int, Turn] = {}
        """The turns that were played, with ids, by the number of the request."""
        self.under_way: dict[int, tuple[int, str]] = {}
        """Replies that are not completely sent, by number: status and description."""
        self.broken: Exception | None = None
        """The first error in looptck itself while it answered."""
        self.service: Service = wire.service(script.stateful) if after is None else after.service
        self._before = 0 if after is None else after.answered
        """The number of requests before this run, by which the ids of its replies differ from theirs."""
        self.streams: dict[int, tuple[bytes, ...]] = {}
        """The writes of each streamed reply, by its number."""
        self.habits = habits
        """The habits of the implementation in this cell; None: a stream is held only where its step says so."""
        self.bodies: dict[int, bytes] = {}
        """The body of each other reply, by its number, as far as it is sent."""
        self._patience = patience
        self._rest = rest
        self.judging = 0.0
        """Seconds that reading and judging requests took."""
        self.held = 0.0
        """Seconds that replies and tools waited at gates."""
        self.parser: Bodies = Bodies() if after is None else after.parser
        self._encoder = Encoder(wire)
        self._requests = 0
        self._received = 0
        """The bytes of all bodies so far."""
        self._side_requests = 0
        self.tool_runs = 0
        self.tools_at_work: set[int] = set()
        """The numbers of the tool runs without an answer so far."""
        self._questions = 0
        self.transcript.watchers += [gate.watch for gate in gates]

    @property
    def answered(self) -> int:
        """The number of model requests so far, with those of the mock runs before it."""
        return self._before + self._requests

    def opened(self, prefix: str) -> None:
        """The provider has given the mock run its path prefix."""
        self.prefix = prefix

    def answer(self, request: HttpRequest) -> HttpReply | None:
        """Answer any request below the prefix. Errors in looptck itself are stored: they are not the loop's fault."""
        try:
            return self._route(request)
        except Exception as error:  # noqa: BLE001 - see above
            self.broken = self.broken or error
            return None

    def _route(self, request: HttpRequest) -> HttpReply | None:
        path = request.path.partition("?")[0].removeprefix(self.prefix)
        if (why := self._too_much(request)) is not None:
            self.note_unrouted(request.method, f"{path}: {why}")
            return _whole(413, self.wire.error_body(413, why))
        if (why := _unreadable(request)) is not None:
            self.note_unrouted(request.method, f"{path}: {why}")
            return _whole(415, self.wire.error_body(415, why))
        if request.method == "POST" and path == "/v1" + self.wire.route:
            return self._model(request)
        if request.method == "POST" and path == "/dispatch":
            return self._dispatched(parsed(request.body), request.headers.get("content-type", ""))
        if request.method == "POST" and path.startswith("/tools/"):
            return self._tool(unquote(path.removeprefix("/tools/")), parsed(request.body))
        if request.method == "POST" and path.startswith("/kinds/"):
            return self._kind(path.removeprefix("/kinds/"), parsed(request.body))
        if request.method == "POST" and path == "/confirm":
            return self._confirm(parsed(request.body))
        side = self.wire.side(request.method, path.removeprefix("/v1"), parsed(request.body))
        if side is not None:
            return self._side_request(request.method, path, "200", _whole(200, side))
        self.note_unrouted(request.method, path)
        return _whole(404, self.wire.error_body(404, f"Invalid URL ({request.method} {path})"))

    def _too_much(self, request: HttpRequest) -> str | None:
        """Why a body is more than the kit takes; None where it is not."""
        self._received += len(request.body)
        if self._received > MOST_BYTES:
            return f"the requests of one run have more than {MOST_BYTES} bytes"
        if sum(map(request.body.count, (b",", b"[", b"{"))) > MOST_VALUES:
            return f"a body has more than {MOST_VALUES} values"
        return None

    def note_unrouted(self, method: str, path: str) -> None:
        """Record a request to an unknown route."""
        self._note(UnroutedRequest(self.transcript.now(), method, path))

    def _note(self, event: Event) -> None:
        self.transcript.append(event)

    def _side_request(self, method: str, path: str, answered: str, reply: HttpReply) -> HttpReply | None:
        """Record and answer a request outside the script; after `_MOST_SIDE_REQUESTS` there is no answer."""
        self._side_requests += 1
        if self._side_requests > _MOST_SIDE_REQUESTS:
            return None
        self._note(SideRequest(self.transcript.now(), method, path, answered))
        return reply

    # -- the model ---------------------------------------------------------------------------------------------------

    def _model(self, request: HttpRequest) -> HttpReply | None:
        n = self._requests + 1
        if n > self.script.cap:
            return None
        began = perf_counter()
        body, growth = self.parser.parse(request.body)
        step = self.script.step(n)
        if step is not None and step.forgets is not None:
            self.service.lose_state(step.forgets or None)
        problems = tuple(_with_type(one, request.headers) for one in self.service.judge(body, request.headers, growth))
        if problems and problems[0].state_missing:
            why = f"{problems[0].status}, {problems[0].code or problems[0].rule}"
            return self._side_request("POST", request.path, why, self._refused(problems[0]))
        self._requests = n
        read = self.service.read(body, growth)
        self.judging += perf_counter() - began
        self._note(
            Received(
                at=self.transcript.now(),
                n=n,
                path=request.path,
                headers=request.headers,
                raw=request.body,
                body=body,
                request=read,
                problems=problems,
                scripted=step is not None,
            )
        )
        if problems:
            return self._noted(n, problems[0].status, "refused", self._refused(problems[0]))
        if step is None:
            over = self.wire.error_body(400, f"looptck: the script ends before request {n}.")
            return self._noted(n, 400, "past the end of the script", _whole(400, over))
        return self._play(n, step, body)

    def _refused(self, problem: Problem) -> HttpReply:
        return _whole(problem.status, self.wire.refusal(problem))

    def _play(self, n: int, step: Step, body: Any) -> HttpReply:
        fault = step.fault
        stream = body.get("stream") is True
        if isinstance(fault, faults.HttpError):
            error = self.wire.error_body(fault.status, fault.message)
            reply = _whole(fault.status, error, [*_JSON, *fault.headers])
            return self._noted(n, fault.status, "an error", reply)
        if isinstance(fault, faults.NotJson):
            reply = HttpReply([head(200, [("content-type", "text/html")], length=len(_HTML)) + _HTML])
            return self._noted(n, 200, "a page of HTML", reply)
        if step.recorded is not None:
            return self._recorded(n, step.turn, step.recorded, body)
        said = step.by(body) if step.by is not None else step.turn
        if said is None:
            raise ValueError(f"step {n} of the script has neither a turn nor a fault that needs no turn")
        if not self.wire.can_say(said, stream=stream):
            raise ValueError(f"{self.wire.name} cannot express the turn of step {n}: {said}")
        turn = said.numbered(self.answered)
        self.turns[n] = turn
        if fault is None:
            self.service.replied(body, self.answered, turn)
        reply = self._streamed(n, turn, step) if stream else self._plain(n, turn, step)
        if step.before is not None:
            reply.parts.insert(0, step.before)
        what = "a turn" if fault is None else f"a turn, with the fault {type(fault).__name__}"
        return self._noted(n, 200, what, reply)

    def _recorded(self, n: int, turn: Turn | None, reply: Recorded, body: Any) -> HttpReply:
        """The recorded bytes in the recorded chunks, and the recorded break.

        A turn that was recorded plain is sent as a stream if the request asks for one, as the service would do.
        """
        what = f"a recorded reply of status {reply.status}"
        streams = isinstance(body, dict) and body.get("stream") is True
        if turn is not None:
            what = "a turn"
            self.turns[n] = turn
            self.service.replied(body, self.answered, turn, reply.id)
            if streams and not reply.streamed and self.wire.can_say(turn, stream=True):
                return self._noted(n, 200, what, self._streamed(n, turn, Step(turn)))
        headers = list(reply.headers)
        if not reply.streamed:
            length = len(reply.body) + reply.broken  # a broken reply is shorter than announced
            whole = head(reply.status, headers, length=length) + reply.body
            return self._noted(n, reply.status, what, HttpReply([whole], then_close=reply.broken))
        stream = recorded(self.wire, turn, reply, self.habits)
        parts = self._parts(n, stream)
        if not reply.broken:
            parts.append(LAST_CHUNK)
        start = head(reply.status, headers, length=None)
        return self._noted(n, reply.status, what, HttpReply([start, *parts], then_close=reply.broken))

    def _plain(self, n: int, turn: Turn, step: Step) -> HttpReply:
        body = self._encoder.plain(turn, self.answered, step.framing)
        start = head(200, _JSON, length=len(body))
        if isinstance(step.fault, faults.Cut):
            return HttpReply([start + body[: int(len(body) * step.fault.share)]], then_close=True)
        pieces = step.framing.pieces(body)
        return HttpReply([start + pieces[0], *pieces[1:]])

    def _streamed(self, n: int, turn: Turn, step: Step) -> HttpReply:
        stream = streamed(self.wire, turn, self.answered, step, self.habits, self._encoder)
        parts = self._parts(n, stream)
        parts[0] = head(200, _EVENTS, length=None) + parts[0]  # type: ignore[operator]
        if not stream.broken:
            parts[-1] = parts[-1] + LAST_CHUNK  # type: ignore[operator]
        return HttpReply(parts, then_close=stream.broken)

    def _parts(self, n: int, stream: Stream) -> list[bytes | Gate]:
        """The writes of a stream as chunks, and its gates."""
        self.streams[n] = stream.writes
        if stream.own is not None:
            self.transcript.watchers.append(stream.own.watch)
        return [part if isinstance(part, Gate) else chunked(part) for part in stream.parts]

    def _noted(self, n: int, status: int, what: str, reply: HttpReply) -> HttpReply:
        self.under_way[n] = status, what
        if n not in self.streams:
            self.bodies[n] = b"".join(one for one in reply.parts if isinstance(one, bytes)).partition(b"\r\n\r\n")[2]
        reply.sent = lambda: self._left(n)
        reply.dropped = lambda: self._note(HungUp(self.transcript.now(), n))
        return self._patient(reply)

    def _left(self, n: int, how: str = "") -> None:
        status, what = self.under_way.pop(n, (0, ""))
        if status:
            stream, body = self.streams.get(n, ()), self.bodies.get(n, b"")
            self._note(Replied(self.transcript.now(), n, status, what + how, stream, body))

    def finish(self) -> None:
        """The run is over. A reply that is not completely sent is recorded as far as the loop has read it."""
        for n in list(self.under_way):
            self._left(n, ", which the loop did not read to its end")

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

    # -- the toolbox -------------------------------------------------------------------------------------------------

    def _tool(self, tool: str, body: Any) -> HttpReply:
        """The handler of a tool was called."""
        if not isinstance(body, dict) or "arguments" not in body:
            return self._unknown(f"/tools/{tool} without arguments", 'POST {"arguments": …} to the toolbox')
        return self._run(tool, body["arguments"])

    def _kind(self, kind: str, body: Any) -> HttpReply:
        """The handler of a kind of tools was called, with all its arguments."""
        if not isinstance(body, dict) or not _OF_A_KIND <= body.keys() or not isinstance(body["tool"], str):
            wanted = 'POST {"tool": its name, "arguments": …, "agent": its name, "inputs": …} to the toolbox'
            return self._unknown(f"/kinds/{kind} without all arguments of such a handler", wanted)
        return self._run(body["tool"], body["arguments"], ByKind(kind, body["agent"], body["inputs"]))

    def _dispatched(self, body: Any, type: str) -> HttpReply | None:
        """A server has posted a call to its dispatch URL."""
        if not isinstance(body, dict) or not isinstance(body.get("name"), str) or "arguments" not in body:
            return self._unknown("/dispatch without name and arguments", 'POST {"name": …, "arguments": …}')
        return self._run(body["name"], body["arguments"], dispatched=Dispatched(body, type))

    def _unknown(self, what: str, wanted: str) -> HttpReply:
        self.note_unrouted("POST", what)
        return _whole(400, {"error": {"type": "DriverError", "message": wanted}})

    def _run(
        self, tool: str, arguments: Any, by_kind: ByKind | None = None, dispatched: Dispatched | None = None
    ) -> HttpReply:
        self.tool_runs += 1
        run = self.tool_runs
        behaviour = self.toolbox.next(tool)
        answer = behaviour.answer()
        self._note(ToolBegan(self.transcript.now(), run, tool, arguments, by_kind, dispatched))
        reply = _whole(200, answer) if dispatched is None else _posted(behaviour)
        if behaviour.hold is not None:
            reply.parts.insert(0, behaviour.hold)

        def ended() -> None:
            self.tools_at_work.discard(run)
            self._note(ToolEnded(self.transcript.now(), run, answer, tool))

        self.tools_at_work.add(run)
        reply.sent = ended
        reply.dropped = lambda: self.tools_at_work.discard(run)
        return self._patient(reply)

    # -- the confirmation hook ---------------------------------------------------------------------------------------

    def _confirm(self, body: Any) -> HttpReply:
        """The hook asks about a call before it runs."""
        call = body.get("call") if isinstance(body, dict) else None
        if not isinstance(call, dict):
            return self._unknown("/confirm without a call", 'POST {"call": the call as the model wrote it}')
        self._questions += 1
        question = self._questions
        decision = self.confirmation.next(call.get("_tool", call.get("name")), call)
        answer = decision.answer()
        self._note(ConfirmAsked(self.transcript.now(), question, call))
        reply = _whole(200, answer)
        if decision.hold is not None:
            reply.parts.insert(0, decision.hold)
        reply.sent = lambda: self._note(ConfirmAnswered(self.transcript.now(), question, call, answer))
        return self._patient(reply)


def _unreadable(request: HttpRequest) -> str | None:
    """Why a body is none that the services read, by its headers; None where it is."""
    encoding = request.headers.get("content-encoding", "identity")
    if request.body and encoding.lower() != "identity":
        return f"the body has the content-encoding {encoding}; send it as it is"
    return None


def _with_type(problem: Problem, headers: Mapping[str, str]) -> Problem:
    """A problem whose message names the content type where a body that says to be no JSON is none."""
    type = headers.get("content-type", "json")
    if problem.rule != "body-is-an-object" or "json" in type.lower():
        return problem
    return replace(problem, message=f"{problem.message} Its content-type is {type}.")


def _posted(behaviour: Behaviour) -> HttpReply:
    """The reply of a dispatch endpoint."""
    match behaviour:
        case Answers(status, body, type, broken):
            start = head(status, [("content-type", type)], length=len(body) + broken)
            return HttpReply([start + body], then_close=broken)
        case HangsUp():
            return HttpReply([b""], then_close=True)
        case Raises(message, type):
            return _whole(500, {"error": f"{type}: {message}"})
        case Returns(value):
            return _whole(200, {"content": value} if isinstance(value, str) else value)


def _whole(status: int, body: Any, headers: list[tuple[str, str]] | None = None) -> HttpReply:
    encoded = compact(body)
    return HttpReply([head(status, headers or _JSON, length=len(encoded)) + encoded])
