"""What a server answers to each HTTP request of its clients, except to calls of its tools, which somebody else answers.

Sessions begin with `initialize` and end with DELETE, or when the server forgets them. Requests of the revision without
a handshake are answered whatever headers they have, so that each check finds its own fault. No stream of the server's
own is offered: GET is answered with 405, as the specification allows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

from looptck.provider.mcp import stateless
from looptck.provider.mcp.server import STATELESS, Server
from looptck.values.frozen import dataclass
from looptck.values.jsontext import parsed

Json = dict[str, Any]

PARSE, INVALID, UNKNOWN, PARAMETERS, INTERNAL = -32700, -32600, -32601, -32602, -32603
"""Codes of errors in JSON-RPC."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer to an HTTP request: a status, a message (None: none), and the id of a session that begins."""

    status: int
    message: Json | None = None
    session: str = ""
    stateless: bool = False
    """Whether the request is of the revision without a handshake."""


@dataclass(frozen=True, slots=True)
class Called:
    """A call of a tool, to be answered under the id of its request."""

    id: Any
    tool: str
    arguments: Any
    stateless: bool = False


@dataclass(slots=True)
class Speaking:
    """One server in one run."""

    server: Server
    _sessions: dict[str, str] = field(default_factory=dict)
    """The revision of each open session."""
    _begun: int = 0

    def forget(self) -> None:
        """End all sessions."""
        self._sessions.clear()

    def heard(self, method: str, headers: Mapping[str, str], body: bytes) -> tuple[Any, Answered | Called]:
        """The message in an HTTP request (None: there is none), and what becomes of it."""
        if self.server.refuses is not None:
            return parsed(body), Answered(self.server.refuses, error(None, INTERNAL, "the server does not start"))
        if method == "DELETE":
            return None, self._ended(headers.get("mcp-session-id", ""))
        if method != "POST":
            return None, Answered(405)
        message = parsed(body)
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            return message, Answered(400, error(None, INVALID, "the body is no message of JSON-RPC 2.0"))
        return message, self._read(message, headers)

    def _ended(self, session: str) -> Answered:
        return Answered(404 if self._sessions.pop(session, None) is None else 200)

    def _read(self, message: Json, headers: Mapping[str, str]) -> Answered | Called:
        id, method = message.get("id"), message.get("method")
        if self.server.stateless and stateless.is_stateless(message, headers):
            return self._asked_at_once(id, str(method), message, headers)
        if method == "initialize" and id is not None:
            return self._initialized(id, message.get("params"))
        session = headers.get("mcp-session-id", "")
        if not session and self.server.sessions:
            return Answered(400, error(id, INVALID, "Bad Request: no session id, and no initialize"))
        if session not in self._sessions and (session or self.server.sessions):
            return Answered(404, error(id, INVALID, "Session not found"))
        named = headers.get("mcp-protocol-version")
        if named is not None and named not in self.server.revisions:
            spoken = ", ".join(self.server.revisions)
            return Answered(400, error(id, INVALID, f"Bad Request: unsupported protocol version {named}, not {spoken}"))
        if method is None or id is None:
            return Answered(202)
        return self._asked(id, str(method), message.get("params"))

    def _asked_at_once(self, id: Any, method: str, message: Json, headers: Mapping[str, str]) -> Answered | Called:
        """The answer to a request of the revision without a handshake."""
        if id is None:
            return Answered(202, stateless=True)
        named = stateless.wanted(message, headers)
        if named != STATELESS:
            return Answered(400, self._unsupported(id, named), stateless=True)
        if method == stateless.DISCOVER:
            told = answer(id, stateless.discovered(self.server))
            return Answered(200, stateless.completed(self.server, told), stateless=True)
        if method not in ("tools/list", "tools/call"):
            return Answered(404, error(id, UNKNOWN, f"Method not found: {method}"), stateless=True)
        found = self._asked(id, method, message.get("params"))
        if isinstance(found, Called) or found.message is None:
            return replace(found, stateless=True)
        if method == "tools/list" and "result" in found.message:
            found.message["result"] |= stateless.FRESH
        return replace(found, message=stateless.completed(self.server, found.message), stateless=True)

    def _unsupported(self, id: Any, named: Any) -> Json:
        spoken = stateless.supported(self.server)
        problem = error(
            id, stateless.UNSUPPORTED, f"Unsupported protocol version; this server speaks {', '.join(spoken)}"
        )
        problem["error"]["data"] = {"supported": spoken, "requested": named}
        return problem

    def _initialized(self, id: Any, params: Any) -> Answered:
        wanted = params.get("protocolVersion") if isinstance(params, dict) else None
        if not isinstance(wanted, str):
            return Answered(400, error(id, PARAMETERS, "initialize without a protocol version"))
        if not self.server.revisions:
            return Answered(400, self._unsupported(id, wanted))
        spoken = wanted if wanted in self.server.revisions else self.server.revisions[0]
        told = {"protocolVersion": spoken, "capabilities": self._announcing, "serverInfo": self._about}
        if not self.server.sessions:
            return Answered(200, answer(id, told))
        self._begun += 1
        session = f"{self.server.name}~{self._begun}~{id}".encode().hex()
        self._sessions[session] = spoken
        return Answered(200, answer(id, told), session)

    @property
    def _about(self) -> Json:
        return {"name": self.server.name, "version": "1.0.0"}

    @property
    def _announcing(self) -> Json:
        """The capabilities, with the word that the lists may change: after a handshake the server can say so."""
        return {name: {"listChanged": True} for name in self.server.capabilities}

    def _asked(self, id: Any, method: str, params: Any) -> Answered | Called:
        given = params if isinstance(params, dict) else {}
        match method:
            case "ping":
                return Answered(200, answer(id, {}))
            case "tools/list" if self.server.has_tools:
                return self._listed(id, given.get("cursor"))
            case "tools/call" if self.server.has_tools:
                return self._called(id, given)
        return Answered(200, error(id, UNKNOWN, f"Method not found: {method}"))

    def _listed(self, id: Any, cursor: Any) -> Answered:
        tools = self.server.tools
        size = self.server.page or len(tools) or 1
        pages = [tools[place : place + size] for place in range(0, len(tools), size)] or [()]
        at = 0 if cursor is None else next((n for n in range(1, len(pages)) if cursor == self._cursor(n)), None)
        if at is None:
            return Answered(200, error(id, PARAMETERS, f"Invalid cursor: {cursor!r}"))
        more = {"nextCursor": self._cursor(at + 1)} if at + 1 < len(pages) else {}
        return Answered(200, answer(id, {"tools": [tool.listed for tool in pages[at]], **more}))

    def _cursor(self, page: int) -> str:
        own = self.server.cursor
        return cursor_of(page) if own is None or page > 1 else own

    def _called(self, id: Any, params: Json) -> Answered | Called:
        name, arguments = params.get("name"), params.get("arguments", {})
        if name not in {tool.name for tool in self.server.tools}:
            return Answered(200, error(id, PARAMETERS, f"Unknown tool: {name}"))
        return Called(id, str(name), arguments)


def cursor_of(page: int) -> str:
    """The cursor of a page: opaque, with signs that mean something elsewhere."""
    return f"{page:03d}/ä+%20&next=é=="


def answer(id: Any, result: Json) -> Json:
    """A response."""
    return {"jsonrpc": "2.0", "id": id, "result": result}


def error(id: Any, code: int, message: str) -> Json:
    """The response that is an error."""
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}
