"""The provider's side of one run of a loop: its model on one wire, and its tools.

Everything here happens on the provider's thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from looptck.provider.confirmation import Confirmation, Decision, Unavailable
from looptck.provider.gate import Gate
from looptck.provider.habits import Habits
from looptck.provider.http import HttpReply, HttpRequest, head
from looptck.provider.model_run import ModelRun
from looptck.provider.playing import Speaker
from looptck.provider.renamed import Names
from looptck.provider.replies import whole
from looptck.provider.script import Script, Step
from looptck.provider.toolbox import Answers, Behaviour, HangsUp, Raises, Returns, ReturnsParts, Toolbox
from looptck.values.answer_tool import AnswerTool
from looptck.values.history import Request, Said
from looptck.values.jsontext import parsed
from looptck.values.plain import cut
from looptck.values.transcript import (
    TOO_MUCH,
    UNREADABLE_CALL,
    ByKind,
    ConfirmAnswered,
    ConfirmAsked,
    Dispatched,
    SideRequest,
    ToolBegan,
    ToolEnded,
)
from looptck.values.turns import Turn, says
from looptck.wires import Wire

if TYPE_CHECKING:
    from looptck.catalogue.agents import Tool
    from looptck.provider.case_tools import CaseTools
    from looptck.provider.mcp_results import Behaviour as ServedBehaviour
    from looptck.provider.mcp_results import Served
    from looptck.provider.tool_servers import ToolServers

_OF_A_KIND = {"tool", "arguments", "agent", "inputs"}
CASE_TOOLS = "/mcp"
"""The path of the MCP server that has the tools of the case."""
WORD, OBJECT = "Fine.", "{}"
"""The answers to a request beside the script, for text and for JSON."""
BESIDE = "a word, beside the script"
"""What the transcript says of such a request."""
TELLING = 8
"""The fewest characters of a tool's text by which a request is known to have it."""
MOST_BESIDE = 60
"""The most requests beside the script that get an answer."""
_FIRST_BESIDE = 900_000
"""The number of the first reply beside the script: none in it has such a number."""


def is_aside(body: bytes, prompt: Sequence[str]) -> bool:
    """Whether a request to the model that came after the end is none of the loop's: a title that nobody waits for."""
    found = parsed(body)
    if not prompt or not isinstance(found, dict) or "model" not in found or "tools" in found:
        return False
    said = "\n".join(_texts(found))
    return any(text.strip() not in said for text in prompt)


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict() | list():
            for one in value.values() if isinstance(value, dict) else value:
                yield from _texts(one)


def _answered(behaviour: Behaviour) -> HttpReply:
    """The reply to the handler of a tool."""
    return whole(200, behaviour.answer())


class MockRun(ModelRun):
    """One run's provider and toolbox, below one path prefix."""

    model: str | None = None
    """The name of the model that the case has."""
    instructions: Sequence[str] = ()
    """Those of the agents of the case, if it has several: each may ask, of whatever it has heard."""
    beside = 0
    """How many requests were beside the script."""

    def __init__(
        self,
        wire: Wire,
        script: Script,
        toolbox: Toolbox,
        *,
        gates: tuple[Gate, ...] = (),
        patience: float = 5.0,
        confirmation: Confirmation | None = None,
        servers: Sequence[Served] = (),
        habits: Habits | None = None,
        rest: Callable[[], float] | None = None,
        after: ModelRun | None = None,
        mark: str = "",
    ) -> None:
        """As `ModelRun`, with the tools and the decisions about their calls."""
        super().__init__(
            [wire], script, gates=gates, patience=patience, habits=habits, rest=rest, after=after, mark=mark
        )
        self.toolbox = toolbox
        self.confirmation = confirmation or Confirmation()
        self.tool_servers = self._tool_servers(servers) if servers else None
        """The MCP servers that the loop is a client of."""
        self.offered: Sequence[Tool] = ()
        """The tools of the case."""
        self._offering: CaseTools | None = None
        """The MCP server that has them, once a loop has asked it."""
        self.names = Names()
        """The names of the case's tools, as the loop offers them."""
        self.answer_tool: AnswerTool | None = None
        """The tool by whose call alone the loop takes an answer; None: it takes a text."""
        self._is_answer_offered = False
        """Whether the last request offers that tool."""
        self.tool_runs = 0
        self._returned: list[str] = []
        """The texts that tools have returned, as far as no text has them by chance."""
        self.tools_at_work: set[int] = set()
        """The numbers of the tool runs without an answer so far."""
        self._questions = 0

    # -- beside the script -------------------------------------------------------------------------------------------

    def _model(self, speaker: Speaker, request: HttpRequest) -> HttpReply | None:
        if self.prompt and b'"tools"' not in request.body:
            body = parsed(request.body)
            if isinstance(body, dict) and self._asks_for_itself(speaker, body):
                return self._beside_the_script(speaker, request, body, BESIDE)
        return super()._model(speaker, request)

    def _asks_for_itself(self, speaker: Speaker, body: dict[str, Any]) -> bool:
        """Whether a request without tools has nothing but words, among them not all of the prompt.

        Where there are several agents it has the instructions of none. One that the service refuses is judged with
        those of the loop. A loop may write its history as text, and ask with it for a last answer under another system
        prompt: such a request has what a tool has returned, and the question. Without the question it is a summary.
        """
        items = speaker.service.read(body).items
        words = [item.text for item in items if isinstance(item, Said)]
        if len(words) < len(items) or speaker.service.judge(body):
            return False
        said = "\n".join(words)
        asks = self.prompt[-1].strip() in said and any(text in said for text in self._returned)
        if asks or any(text in said for text in self.instructions):
            return False
        return bool(self.instructions) or any(text.strip() not in said for text in self.prompt)

    def _beside_the_script(
        self, speaker: Speaker, request: HttpRequest, body: dict[str, Any], how: str
    ) -> HttpReply | None:
        """Answer with a word, which costs no turn."""
        self.beside += 1
        if self.beside > MOST_BESIDE:
            self.note_unrouted("POST", request.path, f"{TOO_MUCH} {MOST_BESIDE} beside the script")
            return None
        self._note(SideRequest(self.transcript.now(), "POST", request.path, how))
        n = _FIRST_BESIDE + self.beside
        turn: Turn = says(OBJECT if _wants_json(body) else WORD)
        reply = self._says(speaker, n, turn, Step(turn), stream=body.get("stream") is True, number=n)
        self.streams.pop(n, None)
        return reply

    def _besides(self, request: HttpRequest, path: str, wire: Wire) -> HttpReply | None:
        """Answer a call of a tool, a question of the confirmation hook, or another request."""
        if request.method == "POST" and path == "/dispatch":
            return self._dispatched(parsed(request.body), request.headers.get("content-type", ""))
        if request.method == "POST" and path.startswith("/tools/"):
            return self._tool(unquote(path.removeprefix("/tools/")), parsed(request.body))
        if request.method == "POST" and path.startswith("/kinds/"):
            return self._kind(path.removeprefix("/kinds/"), parsed(request.body))
        if path == CASE_TOOLS:
            return self._case_tools(request)
        if self.tool_servers is not None and (reply := self.tool_servers.answer(request, path, self._served)):
            return reply
        if request.method == "POST" and path == "/confirm":
            return self._confirm(parsed(request.body))
        return super()._besides(request, path, wire)

    def _read(self, request: Request) -> Request:
        if self.answer_tool is not None:
            self._is_answer_offered = self.answer_tool.offered(request.tools)
            request = self.answer_tool.read(request)
        self.names.learn(request.tools)
        if not self.names.own:
            return request
        return self.names.read(request, {call.id or "" for turn in self.turns.values() for call in turn.calls})

    def _spoken(self, turn: Turn) -> Turn:
        turn = self.names.spoken(turn)
        if self.answer_tool is None or not self._is_answer_offered:
            return turn
        return self.answer_tool.spoken(turn).numbered(self.answered)

    def _meant(self, turn: Turn) -> Turn:
        return self.names.meant(turn)

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
        return self._run(body["tool"], body["arguments"], by_kind=ByKind(kind, body["agent"], body["inputs"]))

    def _dispatched(self, body: Any, type: str) -> HttpReply | None:
        """A server has posted a call to its dispatch URL."""
        if not isinstance(body, dict) or not isinstance(body.get("name"), str) or "arguments" not in body:
            posted = (
                f"its members are {', '.join(body) or 'none'}" if isinstance(body, dict) else "it is no JSON object"
            )
            return self._unknown(UNREADABLE_CALL, 'POST {"name": …, "arguments": …}', cut(posted, 200))
        return self._run(body["name"], body["arguments"], dispatched=Dispatched(body, type), told=_posted)

    def _unknown(self, what: str, wanted: str, why: str = "") -> HttpReply:
        self.note_unrouted("POST", what, why)
        return whole(400, {"error": {"type": "DriverError", "message": wanted}})

    def _case_tools(self, request: HttpRequest) -> HttpReply:
        """A loop asks the server that has the tools of the case."""
        from looptck.provider.case_tools import CaseTools  # most loops take tools from their caller

        if self._offering is None:
            self._offering = CaseTools(self.offered)
        return self._offering.answer(request, lambda tool, arguments, told: self._run(tool, arguments, told=told))

    def _run(
        self,
        tool: str,
        arguments: Any,
        *,
        by_kind: ByKind | None = None,
        dispatched: Dispatched | None = None,
        told: Callable[[Behaviour], HttpReply] = _answered,
    ) -> HttpReply:
        self.tool_runs += 1
        run = self.tool_runs
        behaviour = self.toolbox.next(tool)
        answer = behaviour.answer()
        self._note(ToolBegan(self.transcript.now(), run, tool, arguments, by_kind, dispatched))
        reply = told(behaviour)
        if behaviour.hold is not None:
            reply.parts.insert(0, behaviour.hold)
        return self._at_work(run, tool, answer, reply)

    def _tool_servers(self, servers: Sequence[Served]) -> ToolServers:
        from looptck.provider.tool_servers import ToolServers  # most runs have none

        return ToolServers(servers, self.transcript.now, self._note)

    def _served(
        self, server: str, tool: str, arguments: Any, behaviour: ServedBehaviour, reply: HttpReply
    ) -> HttpReply:
        """A tool of an MCP server was called."""
        self.tool_runs += 1
        self._note(ToolBegan(self.transcript.now(), self.tool_runs, tool, arguments, server=server))
        return self._at_work(self.tool_runs, tool, behaviour.answer(), reply)

    def _at_work(self, run: int, tool: str, answer: dict[str, Any], reply: HttpReply) -> HttpReply:
        """The reply to a tool run, which is at work until it is sent."""

        def ended() -> None:
            self.tools_at_work.discard(run)
            if isinstance(text := answer.get("value"), str) and len(text) >= TELLING:
                self._returned.append(text)
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
        name = str(call.get("_tool", call.get("name")))
        decision = self.confirmation.next(self.names.own.get(name, name), call)
        answer = decision.answer()
        self._note(ConfirmAsked(self.transcript.now(), question, call))
        reply = _told(decision)
        if decision.hold is not None:
            reply.parts.insert(0, decision.hold)
        reply.sent = lambda: self._note(ConfirmAnswered(self.transcript.now(), question, call, answer))
        return self._patient(reply)


def _told(decision: Decision) -> HttpReply:
    """The reply to a question of the confirmation hook."""
    match decision:
        case Unavailable(None):
            return HttpReply([b""], then_close=True)
        case Unavailable(int(status)):
            page = str(decision).encode()
            return HttpReply([head(status, [("content-type", "text/plain")], length=len(page)) + page])
    return whole(200, decision.answer())


def _posted(behaviour: Behaviour) -> HttpReply:
    """The reply of a dispatch endpoint."""
    match behaviour:
        case Answers(status, body, type, broken):
            start = head(status, [("content-type", type)], length=len(body) + broken)
            return HttpReply([start + body], then_close=broken)
        case HangsUp():
            return HttpReply([b""], then_close=True)
        case Raises(message, type):
            return whole(500, {"error": f"{type}: {message}"})
        case Returns(value):
            return whole(200, {"content": value} if isinstance(value, str) else value)
        case ReturnsParts():
            return whole(200, behaviour.answer())


def _wants_json(body: dict[str, Any]) -> bool:
    """Whether a request asks for an answer in JSON."""
    text = body.get("text")
    format = body.get("response_format") or (text.get("format") if isinstance(text, dict) else None)
    return isinstance(format, dict) and str(format.get("type", "")).startswith("json")
