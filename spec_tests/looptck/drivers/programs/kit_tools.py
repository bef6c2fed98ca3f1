"""The kit's tools over the Model Context Protocol: what a program is given where it takes tools from servers.

One server on 127.0.0.1 has an address for each case, below which the tools of that case are listed. A call is passed on
to the toolbox, which decides what it returns, raises or waits for. It answers in JSON and keeps no sessions.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
from collections.abc import Mapping, Sequence
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from mcp.server.lowlevel import Server
from mcp.types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams, TextContent, Tool

from looptck.values.jsontext import compact

LONGEST = 120.0
"""Seconds that one call may take: a case may hold a tool at a gate."""
MOST_CALLS = 500
"""Calls that may be under way at a time, each in a thread of its own: a case may hold some until all have begun."""
STARTING, ENDING = 60.0, 5.0
"""Seconds until the server must answer, and until it must have ended."""


class KitTools:
    """The server, which is started with the first case."""

    def __init__(self) -> None:
        self._cases: dict[str, Mapping[str, Mapping[str, Any]]] = {}
        self._calls = 0
        app = Server("kit", on_list_tools=self._list, on_call_tool=self._call).streamable_http_app(
            streamable_http_path="/{case}/mcp", json_response=True, stateless_http=True
        )
        settings = uvicorn.Config(app, log_config=None, log_level="critical", timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(settings)
        self._socket = socket.create_server(("127.0.0.1", 0))  # connections wait in it until the server is there
        self._thread = threading.Thread(
            target=self._server.run, args=([self._socket],), name="looptck mcp", daemon=True
        )
        self._thread.start()
        _await(self._port)

    def open(self, case: str, tools: Sequence[Mapping[str, Any]]) -> str:
        """Offer these tools, each as a case's message has it, with the URL of its handler; the address of the case."""
        self._cases[case] = {tool["name"]: tool for tool in tools}
        return f"http://127.0.0.1:{self._port}/{case}/mcp"

    @property
    def _port(self) -> int:
        port: int = self._socket.getsockname()[1]
        return port

    def close(self, case: str) -> None:
        """A case is over."""
        self._cases.pop(case, None)

    def stop(self) -> None:
        """End the server."""
        self._server.should_exit = True
        self._thread.join(ENDING)
        self._socket.close()

    def _tools(self, context: Any) -> Mapping[str, Mapping[str, Any]]:
        return self._cases.get(context.request.path_params["case"], {})

    async def _list(self, context: Any, _: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[listed(tool) for tool in self._tools(context).values()])

    async def _call(self, context: Any, call: CallToolRequestParams) -> CallToolResult:
        tool = self._tools(context).get(call.name)
        if tool is None:
            return result({"error": {"type": "UnknownTool", "message": f"there is no tool {call.name}"}})
        if self._calls >= MOST_CALLS:
            return result({"error": {"type": "TooManyCalls", "message": f"{MOST_CALLS} calls are under way"}})
        self._calls += 1
        try:
            return result(await _apart(tool["url"], call.arguments or {}))
        finally:
            self._calls -= 1


async def _apart(url: str, arguments: Any) -> dict[str, Any]:
    """What the toolbox answers, waited for in a thread that keeps neither other calls nor the end of this process."""
    loop = asyncio.get_running_loop()
    answered: asyncio.Future[dict[str, Any]] = loop.create_future()

    def tell(answer: dict[str, Any]) -> None:
        if not answered.done():
            answered.set_result(answer)

    def ask() -> None:
        answer = forwarded(url, arguments)
        with contextlib.suppress(RuntimeError):  # the server has ended
            loop.call_soon_threadsafe(tell, answer)

    threading.Thread(target=ask, name="looptck mcp call", daemon=True).start()
    return await answered


def _await(port: int) -> None:
    """Wait until the server answers anything: a program may not wait for its tools before it asks its model."""
    connection = HTTPConnection("127.0.0.1", port, timeout=STARTING)
    try:
        connection.request("GET", "/")
        connection.getresponse().read()
    finally:
        connection.close()


def listed(tool: Mapping[str, Any]) -> Tool:
    """A tool of a case, as it is listed."""
    return Tool(name=tool["name"], description=tool["description"], input_schema=dict(tool["parameters"]))


def forwarded(url: str, arguments: Any) -> dict[str, Any]:
    """What the toolbox answers to a call: a value or an error."""
    place = urlsplit(url)
    connection = HTTPConnection(place.hostname or "127.0.0.1", place.port, timeout=LONGEST)
    try:
        connection.request("POST", place.path, compact({"arguments": arguments}), {"content-type": "application/json"})
        found = json.loads(connection.getresponse().read())
    except (OSError, HTTPException, ValueError) as error:
        return {"error": {"type": "ToolboxGone", "message": f"the toolbox did not answer: {type(error).__name__}"}}
    finally:
        connection.close()
    return found if isinstance(found, dict) else {"error": {"type": "ToolboxGone", "message": "no answer"}}


def result(answer: Mapping[str, Any]) -> CallToolResult:
    """The result of a call: a text as it is, any other value as JSON, an error with its type and message."""
    if "error" in answer:
        error = answer["error"]
        return CallToolResult(content=[_text(f"{error['type']}: {error['message']}")], is_error=True)
    value = answer.get("value")
    return CallToolResult(content=[_text(value if isinstance(value, str) else compact(value).decode())])


def _text(text: str) -> TextContent:
    return TextContent(type="text", text=text)
