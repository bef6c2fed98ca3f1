"""The tools of a server that speaks the Model Context Protocol over HTTP: as much of a client as the program needs.

A message is posted as JSON-RPC, and answered in JSON or as one event of a stream.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import count
from typing import Any

import httpx

from looptck_reference.vocabulary.errors import LoopError
from looptck_reference.vocabulary.tools import Tool
from looptck_reference.vocabulary.values import Json

__all__ = ["PREFIX", "ServerFailed", "ToolFailed", "ToolServer"]

PREFIX = "kit__"
"""What the program puts before the names of the server's tools."""
VERSION = "2025-06-18"


class ServerFailed(LoopError):
    """The server cannot be used."""


class ToolFailed(Exception):
    """A tool of the server has failed; the message is its result."""


class ToolServer:
    """A server of tools at an address."""

    def __init__(self, url: str, client: httpx.Client) -> None:
        self.url = url
        self.client = client
        self.headers = {"accept": "application/json, text/event-stream"}
        self.numbers = count(1)

    def tools(self) -> list[Tool]:
        """All tools of the server, each with the handler that calls it. Raises ServerFailed if it is none."""
        about = {"name": "looptck-reference-program", "version": "1"}
        began = self.ask("initialize", protocolVersion=VERSION, capabilities={}, clientInfo=about)
        self.headers["mcp-protocol-version"] = began["protocolVersion"]
        self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return [self.tool(one) for one in self.listed()]

    def listed(self) -> Iterator[Json]:
        """The tools as the server lists them, page by page."""
        page: Json = {}
        while True:
            found = self.ask("tools/list", **page)
            yield from found["tools"]
            if not found.get("nextCursor"):
                return
            page = {"cursor": found["nextCursor"]}

    def tool(self, listed: Mapping[str, Any]) -> Tool:
        """A tool of the server as one of the loop."""
        name = listed["name"]
        return Tool(PREFIX + name, listed.get("description", ""), listed["inputSchema"], partial(self.call, name))

    def call(self, tool: str, /, **arguments: Any) -> str:
        """The text of a result. Raises ToolFailed with it if the tool has failed."""
        result = self.ask("tools/call", name=tool, arguments=arguments)
        text = "\n".join(part["text"] for part in result["content"] if part["type"] == "text")
        if result.get("isError"):
            raise ToolFailed(text)
        return text

    def ask(self, method: str, **params: Any) -> Json:
        """The result of a request. Raises ServerFailed if it is an error."""
        id = next(self.numbers)
        reply = self.post({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        for message in _messages(reply):
            if message.get("id") == id and "result" in message:
                result: Json = message["result"]
                return result
            if message.get("id") == id:
                raise ServerFailed(f"{method}: {message.get('error')}")
        raise ServerFailed(f"{method}: {reply.status_code}")

    def post(self, message: Json) -> httpx.Response:
        """Send a message; the reply to it."""
        return self.client.post(self.url, json=message, headers=self.headers)


def _messages(reply: httpx.Response) -> Iterator[Json]:
    """The messages of a reply: its body, or the data of its events."""
    if "event-stream" in reply.headers.get("content-type", ""):
        for line in reply.text.splitlines():
            if line.startswith("data:"):
                yield json.loads(line.removeprefix("data:"))
    elif reply.status_code == httpx.codes.OK:
        yield reply.json()
