"""The tools of a case's MCP servers: what the agent has of them beside its own, and the handlers that call them."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx

from looptck_reference.kit.served import Served
from looptck_reference.kit.toolbox import LOOPBACK
from looptck_reference.mcp import McpClient, value_of
from looptck_reference.vocabulary.tools import Handler, Tool
from looptck_reference.vocabulary.values import Json

__all__ = ["Servers"]

TIMEOUT = 30.0


class Servers:
    """Connects to the servers of a case."""

    client: type[McpClient] = McpClient

    @contextmanager
    def connected(self, case: Json) -> Iterator[Served]:
        """The tools of the servers, whose sessions end with the run."""
        servers = case.get("tool_servers", ())
        if not servers:
            yield Served()
            return
        with ExitStack() as stack:
            line = stack.enter_context(httpx.Client(**LOOPBACK, timeout=TIMEOUT))
            clients = [stack.enter_context(self.client(one["name"], one["url"], line)) for one in servers]
            yield self.served(clients, case)

    def served(self, clients: Sequence[McpClient], case: Json) -> Served:
        """The tools of these servers."""
        taken = {tool["name"] for tool in case["tools"]}
        tools: list[Tool] = []
        handlers: dict[str, Handler] = {}
        for client in clients:
            for listed in client.tools():
                name = self.name(client, listed["name"], {*taken, *handlers})
                tools.append(Tool(name, listed.get("description", ""), self.schema(listed)))
                handlers[name] = self.handler(client, listed["name"], case["mode"])
        return Served(tools, handlers)

    def name(self, client: McpClient, tool: str, taken: Collection[str]) -> str:
        """The name of a tool for the loop: its own, with the server's before it if there is another of that name."""
        return f"{client.name}__{tool}" if tool in taken else tool

    def schema(self, listed: Json) -> Json:
        """The schema of a tool's parameters."""
        schema: Json = listed["inputSchema"]
        return schema

    def handler(self, client: McpClient, tool: str, mode: str) -> Handler:
        """The function that calls a tool, in a thread of its own if the run is async."""

        def handle(**arguments: Any) -> Any:
            return self.value(client.call(tool, arguments))

        async def handle_async(**arguments: Any) -> Any:
            return await asyncio.to_thread(handle, **arguments)

        return handle_async if mode == "async" else handle

    def value(self, result: Json) -> Any:
        """The value of a result; see `value_of`."""
        return value_of(result)
