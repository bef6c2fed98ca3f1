"""The kit's tools for a program that takes servers of tools only as commands: standard input and output, passed on.

python -m looptck.drivers.programs.stdio http://127.0.0.1:8000/CASE/mcp
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from mcp.client import Client
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams


async def passed_on(url: str) -> None:
    """Answer for the server at this address until standard input ends."""
    async with Client(url) as client:

        async def listed(_: Any, __: PaginatedRequestParams | None) -> ListToolsResult:
            return await client.list_tools()

        async def called(_: Any, call: CallToolRequestParams) -> CallToolResult:
            return await client.call_tool(call.name, call.arguments or {})

        server = Server("kit", on_list_tools=listed, on_call_tool=called)
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(passed_on(sys.argv[1]))
