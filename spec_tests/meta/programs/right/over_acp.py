"""A right program that speaks the Agent Client Protocol: the loop of `with_httpx`, once for each session."""

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

from meta.programs.right.with_httpx import Trouble
from meta.programs.right.with_httpx import main as task


class Agent:
    """The agent's side of the protocol."""

    client: Any

    def on_connect(self, conn: Any) -> None:
        """The client is there."""
        self.client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        """Any client will do."""
        return InitializeResponse(protocol_version=protocol_version)

    async def new_session(self, **_: Any) -> NewSessionResponse:
        """Sessions keep nothing."""
        self.count = getattr(self, "count", 0) + 1
        return NewSessionResponse(session_id=f"session-{self.count}")

    async def prompt(self, prompt: Any, session_id: str, **_: Any) -> PromptResponse:
        """Do the task in a thread, and send its answer."""
        out = io.StringIO()

        def work() -> int:
            with redirect_stdout(out), redirect_stderr(sys.stderr):
                return int(task("".join(block.text for block in prompt)))

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
