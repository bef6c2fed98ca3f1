"""A client of one MCP server over streamable HTTP: in the revision without a handshake, or in those with one.

It asks in the former first, and begins a session where the server does not know that one. Each message is a POST of its
own, whose answer is JSON or a stream of events. Calls may run in several threads at the same time: each reads its own
answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import count
from threading import Lock
from typing import Any, Self

import httpx

from looptck_reference.mcp.metadata import ABOUT, STATELESS, Metadata
from looptck_reference.vocabulary.errors import LoopError
from looptck_reference.vocabulary.values import Json
from looptck_reference.wires.sse import EventReader

__all__ = ["McpClient", "McpFailed", "SessionOver"]

REVISION = "2025-11-25"
SPOKEN = {REVISION, "2025-06-18", "2025-03-26"}
UNKNOWN_METHOD = -32601
STATELESS_ERRORS = range(-32099, -32019)
"""Codes of errors that only servers have which speak the revision without a handshake."""
NONE: Mapping[str, str] = {}
MOST_ROUNDS = 10
"""The most times that a call is made which the server asks for once more."""


class McpFailed(LoopError):
    """The server has answered with an error of the protocol, or not at all."""

    reason = "tool"


class SessionOver(McpFailed):
    """The server no longer knows the session."""


class OtherRevision(McpFailed):
    """The server does not speak the revision without a handshake."""


class McpClient:
    """A connection to the server at this URL; `name` is what the caller calls it."""

    described: type[Metadata] = Metadata

    def __init__(self, name: str, url: str, client: httpx.Client) -> None:
        self.name = name
        self.url = url
        self.revision = ""
        """The revision in use; empty before the handshake."""
        self.session = ""
        """The id of the session; empty where there is none."""
        self.capabilities: Json = {}
        self.metadata = self.described()
        self._client = client
        self._ids = count(1)
        self._connecting = Lock()

    def __enter__(self) -> Self:
        """Connect. Raises McpFailed if the server cannot be used."""
        self.connect()
        return self

    def __exit__(self, *_: object) -> None:
        """End the session."""
        self.close()

    # -- the beginning and the end ------------------------------------------------------------------------------------

    def connect(self) -> None:
        """Learn what the server can do, or begin a session."""
        self.revision = STATELESS
        try:
            self.capabilities = self.request("server/discover", {})["capabilities"]
        except OtherRevision:
            self.begin()

    def begin(self) -> None:
        """Begin a session: the handshake."""
        self.session = self.revision = ""
        told = self.request("initialize", {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": ABOUT})
        if told["protocolVersion"] not in SPOKEN:
            raise McpFailed(f"server {self.name} speaks revision {told['protocolVersion']}, which this client does not")
        self.revision = told["protocolVersion"]
        self.capabilities = told["capabilities"]
        self.ready()

    def ready(self) -> None:
        """Tell the server that the client is initialized."""
        self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def connect_again(self, lost: str) -> None:
        """Begin a new session in place of this one, unless another thread has."""
        with self._connecting:
            if self.session == lost:
                self.begin()

    def close(self) -> None:
        """End the session, if there is one."""
        if self.session:
            self._client.delete(self.url, headers=self.headers())

    # -- tools --------------------------------------------------------------------------------------------------------

    def tools(self) -> list[Json]:
        """All tools, as the server lists them; none if it has not said that it has some."""
        listed = self.pages() if "tools" in self.capabilities else ()
        return [one for one in listed if self.revision != STATELESS or self.metadata.accepts(one)]

    def pages(self) -> Iterator[Json]:
        """The tools page by page."""
        page: Json = {}
        while True:
            found = self.request("tools/list", page)
            yield from found["tools"]
            if not self.goes_on(found):
                return
            page = {"cursor": found["nextCursor"]}

    def goes_on(self, page: Json) -> bool:
        """Whether there is a page after this one."""
        return page.get("nextCursor") is not None

    def call(self, tool: str, arguments: Json) -> Json:
        """The result of a call. In place of a session that is over a new one begins."""
        session, params = self.session, {"name": tool, "arguments": arguments}
        try:
            return self.completed(params)
        except SessionOver:
            self.connect_again(session)
            return self.completed(params)

    def completed(self, params: Json) -> Json:
        """The result of a call, made again as long as the server asks for that. McpFailed: there is none."""
        given = params
        for _ in range(MOST_ROUNDS):
            found = self.request("tools/call", given)
            type = self.type_of(found)
            if type == "complete":
                return found
            if type != "input_required" or found.get("inputRequests"):
                raise McpFailed(f"server {self.name} answers with {type}, which this client does not support")
            given = self.again(params, found)
        raise McpFailed(f"server {self.name} asks for more after {MOST_ROUNDS} calls")

    def type_of(self, result: Json) -> str:
        """The type of a result; those of a session have none, and are complete."""
        type: str = result.get("resultType", "complete")
        return type

    def again(self, params: Json, interim: Json) -> Json:
        """What a call has that is made again."""
        return params | {"requestState": interim["requestState"]}

    # -- messages -----------------------------------------------------------------------------------------------------

    def headers(self) -> dict[str, str]:
        """The headers of each message; requests without a handshake have more."""
        found = {"accept": "application/json, text/event-stream"}
        if self.session:
            found["mcp-session-id"] = self.session
        if self.revision:
            found["mcp-protocol-version"] = self.revision
        return found

    def request(self, method: str, params: Json) -> Json:
        """The result of a request. Raises McpFailed if there is none."""
        id = self.new_id()
        if self.revision == STATELESS:
            more = self.metadata.headers(method, params)
            params = params | {"_meta": self.metadata.fields()}
        else:
            more = {}
        answer = self.post({"jsonrpc": "2.0", "id": id, "method": method, "params": params}, id, more)
        if answer is None or "result" not in answer:
            error = (answer or {}).get("error", {})
            raise McpFailed(
                f"server {self.name} answers {method} with error {error.get('code')}: {error.get('message')}"
            )
        result: Json = answer["result"]
        return result

    def new_id(self) -> int:
        """The id of a request."""
        return next(self._ids)

    def post(self, message: Json, id: int | None = None, more: Mapping[str, str] = NONE) -> Json | None:
        """Send a message, with more headers; the answer to the request with this id, if it is one."""
        try:
            with self._client.stream("POST", self.url, json=message, headers={**self.headers(), **more}) as reply:
                if reply.status_code == httpx.codes.NOT_FOUND and self.session:
                    raise SessionOver(f"server {self.name} no longer knows the session")
                if reply.is_error and self.revision == STATELESS:
                    raise self.refused(reply)
                if reply.is_error:
                    raise McpFailed(f"server {self.name} answers with status {reply.status_code}")
                self.session = reply.headers.get("mcp-session-id", self.session)
                return None if id is None else self.answer(reply, id)
        except (httpx.HTTPError, ValueError) as error:
            raise McpFailed(f"server {self.name} gives no answer: {error!r}") from error

    def refused(self, reply: httpx.Response) -> McpFailed:
        """Why a server refuses a request without a handshake: OtherRevision, or the reason that it gives."""
        try:
            error = json.loads(reply.read())["error"]
            code, message = error["code"], error["message"]
        except (ValueError, LookupError, TypeError):
            code, message = None, ""
        if code in STATELESS_ERRORS or (reply.status_code == httpx.codes.NOT_FOUND and code == UNKNOWN_METHOD):
            return McpFailed(f"server {self.name} answers with error {code}: {message}")
        return OtherRevision(f"server {self.name} answers with status {reply.status_code}")

    def answer(self, reply: httpx.Response, id: int) -> Json:
        """The answer in a reply: its body, or the message of its stream that has this id. Others are heard."""
        if "event-stream" not in reply.headers.get("content-type", ""):
            found: Json = json.loads(reply.read())
            return found
        events = EventReader()
        for piece in reply.iter_raw():
            for data in events.feed(piece):
                message = json.loads(data) if data else {}
                if self.is_answer(message, id):
                    answer: Json = message
                    return answer
                self.heard(message)
        raise McpFailed(f"server {self.name} has ended the stream without an answer")

    def is_answer(self, message: Json, id: int) -> bool:
        """Whether a message in a stream is the answer to the request with this id."""
        return "method" not in message and message.get("id") == id

    def heard(self, message: Json) -> None:
        """Answer a request of the server; a notification changes nothing here."""
        if "method" not in message or "id" not in message:
            return
        said: Any = {"result": {}}
        if message["method"] != "ping":
            said = {"error": {"code": UNKNOWN_METHOD, "message": "Method not found"}}
        self.post({"jsonrpc": "2.0", "id": message["id"], **said})
