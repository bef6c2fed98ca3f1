"""A client of MCP servers over streamable HTTP, on the standard library. A fault or another reading replaces a step."""

# ruff: noqa: D101

from __future__ import annotations

import http.client
import itertools
import json
from typing import Any
from urllib.parse import urlsplit

Json = dict[str, Any]


class Failed(Exception):
    """The server has answered with an error of JSON-RPC, or not at all."""


class Gone(Failed):
    """The server no longer knows the session."""


class Client:
    version = "2025-11-25"
    speaks: tuple[str, ...] = ("2025-11-25", "2025-06-18", "2025-03-26")
    accepts = "application/json, text/event-stream"

    def __init__(self, name: str, url: str) -> None:
        self.name = name
        self.place = urlsplit(url)
        self.session: str | None = None
        self.agreed: str | None = None
        self.able: Json = {}
        self.ids = itertools.count(1)

    # -- HTTP ---------------------------------------------------------------------------------------------------------

    def headers(self) -> dict[str, str]:
        found = {"content-type": "application/json", "accept": self.accepts}
        if self.session:
            found["mcp-session-id"] = self.session
        if self.agreed:
            found["mcp-protocol-version"] = self.agreed
        return found

    def send(self, method: str, body: Any = None) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        line = http.client.HTTPConnection(self.place.hostname or "", self.place.port, timeout=30)
        try:
            line.request(method, self.place.path, None if body is None else json.dumps(body), self.headers())
            return line, line.getresponse()
        except (OSError, http.client.HTTPException) as error:
            line.close()
            raise Failed(f"the server has hung up: {error!r}") from error

    def post(self, message: Json) -> Json | None:
        """Send a message; the response to a request."""
        line, reply = self.send("POST", message)
        try:
            if reply.status == 404 and self.session:
                raise Gone("the session is over")
            if reply.status >= 400:
                raise Failed(f"status {reply.status}: {reply.read()!r}")
            self.session = reply.headers.get("mcp-session-id") or self.session
            if "id" not in message or "method" not in message:
                reply.read()
                return None
            if "text/event-stream" in reply.headers.get("content-type", ""):
                return self.streamed(reply, message["id"])
            return dict(json.loads(reply.read()))
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Failed(f"the server has hung up: {error!r}") from error
        finally:
            line.close()

    def streamed(self, reply: http.client.HTTPResponse, id: Any) -> Json:
        """The response to this request; what comes before it is heard."""
        data: list[str] = []
        for raw in reply:
            line = raw.decode().rstrip("\r\n")
            if line.startswith("data:"):
                data.append(line[5:].removeprefix(" "))
            elif not line and data:
                text, data = "\n".join(data), []
                if self.is_empty(text):
                    continue
                message = json.loads(text)
                if self.is_answer(message, id):
                    return dict(message)
                self.heard(message)
        raise Failed("the stream has ended without an answer")

    def is_empty(self, text: str) -> bool:
        """Whether it is the event with which a stream begins since 2025-11-25."""
        return not text

    def is_answer(self, message: Json, id: Any) -> bool:
        return "method" not in message and message.get("id") == id

    def heard(self, message: Json) -> None:
        """A notification, or a request of the server."""
        if message.get("method") == "ping":
            self.post({"jsonrpc": "2.0", "id": message["id"], "result": {}})
        elif "id" in message and "method" in message:
            unknown = {"code": -32601, "message": "Method not found"}
            self.post({"jsonrpc": "2.0", "id": message["id"], "error": unknown})

    # -- JSON-RPC -----------------------------------------------------------------------------------------------------

    def request(self, method: str, params: Json | None = None) -> Json:
        message: Json = {"jsonrpc": "2.0", "id": next(self.ids), "method": method}
        found = self.post(message if params is None else message | {"params": params})
        if found is None or "result" not in found:
            raise Failed(f"the server says: {(found or {}).get('error')}")
        return dict(found["result"])

    def notify(self, method: str) -> None:
        self.post({"jsonrpc": "2.0", "method": method})

    def connect(self) -> None:
        self.session = self.agreed = None
        about = {"name": "stranger", "version": "1"}
        params = {"protocolVersion": self.version, "capabilities": {}, "clientInfo": about}
        found = self.request("initialize", params)
        if found["protocolVersion"] not in self.speaks:
            raise Failed(f"the server speaks {found['protocolVersion']}, and this client does not")
        self.agreed = found["protocolVersion"]
        self.able = found["capabilities"]
        self.notify("notifications/initialized")

    def list(self) -> list[Json]:
        if "tools" not in self.able:
            return []
        tools: list[Json] = []
        cursor = None
        while True:
            page = self.request("tools/list", {} if cursor is None else {"cursor": cursor})
            tools += page["tools"]
            cursor = page.get("nextCursor")
            if cursor is None:
                return tools

    def call(self, name: str, arguments: Json) -> Json:
        try:
            return self.request("tools/call", {"name": name, "arguments": arguments})
        except Gone:
            self.connect()
            return self.request("tools/call", {"name": name, "arguments": arguments})

    def close(self) -> None:
        if self.session:
            line, reply = self.send("DELETE")
            reply.read()
            line.close()
