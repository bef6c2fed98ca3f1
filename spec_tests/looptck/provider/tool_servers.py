"""The MCP servers of one run: routes below its prefix, and the replies in JSON or as event streams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from looptck.provider.gate import Gate
from looptck.provider.http import LAST_CHUNK, HttpReply, HttpRequest, chunked, head
from looptck.provider.mcp import Answered, Called, Speaking, stateless
from looptck.provider.mcp.speaking import Json, error
from looptck.provider.mcp_results import (
    ID_OF_THE_CALL,
    AsksAgain,
    Behaviour,
    Content,
    Forgets,
    HangsUp,
    RpcError,
    Served,
)
from looptck.provider.replies import EVENTS, JSON
from looptck.values.jsontext import compact
from looptck.values.transcript import McpAsked

PATH = "/mcp/"
PRIMING = b"id: 0\ndata:\n\n"
"""The event with which a stream begins: an id, and no data."""
PRIMED = "2025-11-25"
"""The first revision with such an event. Official servers send none to a client of an earlier one, which may read the
empty data as JSON."""
BREATH = b": the kit's server\n\n"
"""A comment in a stream. One that ends too early has no more: with an id it would ask to be resumed."""
STATUS = {Forgets: 404, HangsUp: 0}
"""The status with which a call is answered, where it is not 200; 0: there is no answer."""

Runs = Callable[[str, str, Any, Behaviour, HttpReply], HttpReply]
"""Notes that a tool of a server runs, by the names of both, with its arguments, and that its reply is sent."""


class ToolServers:
    """The servers by name. ``note`` takes each request as an event, and ``runs`` each call of a tool."""

    def __init__(self, servers: Sequence[Served], now: Callable[[], float], note: Callable[[McpAsked], None]) -> None:
        self._servers = {one.server.name: one for one in servers}
        self._speaking = {one.server.name: Speaking(one.server) for one in servers}
        self._calls: Counter[tuple[str, str]] = Counter()
        self._now = now
        self._note = note

    def paths(self) -> dict[str, str]:
        """The path of each server below the prefix of the run, by its name."""
        return {name: PATH + name for name in self._servers}

    def answer(self, request: HttpRequest, path: str, runs: Runs) -> HttpReply | None:
        """Answer a request to the server at this path below the prefix of the run; None if there is none."""
        name = unquote(path.removeprefix(PATH))
        speaking = self._speaking.get(name) if path.startswith(PATH) else None
        if speaking is None:
            return None
        message, found = speaking.heard(request.method, request.headers, request.body)
        behaviour = self._next(name, found.tool) if isinstance(found, Called) else None
        status = found.status if isinstance(found, Answered) else STATUS.get(type(behaviour), 200)
        self._note(McpAsked(self._now(), name, request.method, request.headers, message, status))
        primed = knows_priming(message, request.headers) and self._servers[name].server.revisions[:1] >= (PRIMED,)
        if isinstance(found, Answered):
            return self._told(name, found, primed=primed)
        assert behaviour is not None
        return self._ran(name, found, behaviour, runs, primed=primed)

    def _next(self, name: str, tool: str) -> Behaviour:
        self._calls[name, tool] += 1
        return self._servers[name].next(tool, self._calls[name, tool])

    def _ran(self, name: str, call: Called, behaviour: Behaviour, runs: Runs, *, primed: bool) -> HttpReply:
        match behaviour:
            case HangsUp():
                reply = HttpReply([b""], then_close=True)
                if self._servers[name].server.streams:
                    reply.parts.insert(0, head(200, EVENTS, length=None) + chunked(BREATH))
            case Forgets():
                self._speaking[name].forget()
                reply = self._told(name, Answered(404, error(call.id, -32600, "Session not found")), primed=primed)
            case _:
                said = behaviour.message(call.id)
                if call.stateless:
                    said = stateless.completed(self._servers[name].server, said)
                reply = self._said(
                    name,
                    [*before(behaviour, call.id), said],
                    primed=primed and not call.stateless,
                    ids=not call.stateless,
                )
        if behaviour.hold is not None:
            reply.parts.insert(len(reply.parts) - 1 if len(reply.parts) > 1 else 0, behaviour.hold)
        return runs(name, call.tool, call.arguments, behaviour, reply)

    def _told(self, name: str, told: Answered, *, primed: bool) -> HttpReply:
        session = [("mcp-session-id", told.session)] if told.session else []
        if told.message is None:
            return HttpReply([head(told.status, session, length=0)])
        if told.status == 200:
            return self._said(
                name, [told.message], session, primed=primed and not told.stateless, ids=not told.stateless
            )
        body = compact(told.message)
        return HttpReply([head(told.status, [*JSON, *session], length=len(body)) + body])

    def _said(
        self, name: str, messages: Sequence[Json], headers: Sequence[tuple[str, str]] = (), *, primed: bool, ids: bool
    ) -> HttpReply:
        """The answer to a request, the last of these messages; those before it have a place only in a stream.

        Streams can be resumed, and so have ids, in the revisions with a handshake alone.
        """
        server = self._servers[name].server
        if not server.streams:
            body = compact(messages[-1])
            return HttpReply([head(200, [*JSON, *headers], length=len(body)) + body])
        numbered = (event(one, n if ids else None, named=server.named) for n, one in enumerate(messages, 1))
        events = [BREATH, *numbered]
        begun = head(200, [*EVENTS, *headers], length=None)
        parts: list[bytes | Gate] = [begun + chunked(PRIMING) if primed else begun]
        parts += [chunked(one) for one in events]
        parts[-1] = chunked(events[-1]) + LAST_CHUNK
        return HttpReply(parts)


def before(behaviour: Content | RpcError | AsksAgain, id: Any) -> list[Json]:
    """The messages before the answer to the call with this id."""
    return [{**one, "id": id} if one.get("id") == ID_OF_THE_CALL else one for one in behaviour.before]


def knows_priming(message: Any, headers: Mapping[str, str]) -> bool:
    """Whether the client speaks a revision with `PRIMING`: the one that it asks for, or names after the handshake."""
    named: Any = headers.get("mcp-protocol-version", "")
    if isinstance(message, dict) and message.get("method") == "initialize":
        parameters = message.get("params")
        named = parameters.get("protocolVersion") if isinstance(parameters, dict) else ""
    return isinstance(named, str) and named >= PRIMED


def event(message: Json, id: int | None, *, named: bool = True) -> bytes:
    """An event of a stream, with its id if it has one. The data is on two lines, as a message may be laid out."""
    first, second = compact(message)[:1], compact(message)[1:]
    name = b"event: message\n" if named else b""
    numbered = b"" if id is None else b"id: %d\n" % id
    return b"%b%bdata: %b\ndata: %b\n\n" % (name, numbered, first, second)
