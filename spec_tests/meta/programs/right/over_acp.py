"""A right program that speaks the Agent Client Protocol: the loop of `with_httpx`, once for each session.

A session that is told of a server of tools, which it takes as a command, has those too.
"""

from __future__ import annotations

import asyncio
import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

import httpx
from acp import (
    InitializeResponse,
    NewSessionResponse,
    PromptResponse,
    RequestError,
    run_agent,
    update_agent_message_text,
)
from mcp.client.stdio import StdioServerParameters, stdio_client

from meta.programs.right import with_tools
from meta.programs.right.with_httpx import Trouble
from meta.programs.right.with_httpx import main as task


class Agent:
    """The agent's side of the protocol."""

    client: Any

    def __init__(self) -> None:
        self.servers: dict[str, Any] = {}

    def on_connect(self, conn: Any) -> None:
        """The client is there."""
        self.client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        """Any client will do."""
        return InitializeResponse(protocol_version=protocol_version)

    async def new_session(self, mcp_servers: Any, **_: Any) -> NewSessionResponse:
        """A session keeps the server that it was told of."""
        id = f"session-{len(self.servers) + 1}"
        self.servers[id] = mcp_servers
        return NewSessionResponse(session_id=id)

    async def prompt(self, prompt: Any, session_id: str, **_: Any) -> PromptResponse:
        """Do the task in a thread, and send its answer."""
        out = io.StringIO()

        text = "".join(block.text for block in prompt)

        def work() -> int:
            with redirect_stdout(out), redirect_stderr(sys.stderr):
                for server in self.servers[session_id]:
                    started = StdioServerParameters(command=server.command, args=server.args)
                    return asyncio.run(with_tools.main(text, stdio_client(started)))
                return task(text)

        try:
            status = await asyncio.to_thread(work)
        except (Trouble, httpx.HTTPError, ValueError) as error:
            raise RequestError(-32000, f"{type(error).__name__}: {error}") from error
        await self.client.session_update(session_id, update_agent_message_text(out.getvalue()))
        return PromptResponse(stop_reason="max_tokens" if status else "end_turn")

    async def cancel(self, **_: Any) -> None:
        """Nothing goes on after a prompt."""


if __name__ == "__main__":
    asyncio.run(run_agent(Agent()))  # type: ignore[arg-type]
