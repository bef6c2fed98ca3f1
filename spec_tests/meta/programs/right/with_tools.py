"""A right program in Python whose tools are those of a server, asked by the official client, with a tool of its own."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

import httpx
from mcp.client import Client, Transport
from mcp.types import TextContent

from meta.programs.right.with_httpx import TOOL, Trouble
from meta.programs.right.with_httpx import main as task

PREFIX = "mcp__kit__"


async def main(prompt: str, server: str | Transport) -> int:
    """Do the task with the tools of a server; the exit status."""
    async with Client(server) as client:
        loop = asyncio.get_running_loop()
        listed = (await client.list_tools()).tools
        tools = [
            {
                "type": "function",
                "function": {
                    "name": PREFIX + tool.name,
                    "description": tool.description,
                    "parameters": tool.input_schema,
                },
            }
            for tool in listed
        ]

        def run(call: dict[str, Any]) -> str:
            """Run a call; its result as text."""
            try:
                given = json.loads(call["arguments"] or "{}")
            except ValueError as error:
                return f"error: {error}"
            if not isinstance(given, dict) or call["name"] not in {PREFIX + tool.name for tool in listed}:
                return f"error: no call of a tool: {call['name']}"
            asked = client.call_tool(call["name"].removeprefix(PREFIX), given)
            done = asyncio.run_coroutine_threadsafe(asked, loop).result()
            text = "\n".join(part.text for part in done.content if isinstance(part, TextContent))
            return f"error: {text}" if done.is_error else text

        return await asyncio.to_thread(task, prompt, [TOOL, *tools], run)


if __name__ == "__main__":
    try:
        sys.exit(asyncio.run(main(sys.argv[1], os.environ["TOOLS"])))
    except* (Trouble, httpx.HTTPError, ValueError) as troubles:
        print(f"error: {troubles.exceptions}", file=sys.stderr)
        sys.exit(1)
