"""A right loop over the client of the official Python SDK, which first tries a revision without a handshake."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from threading import Event, Thread
from typing import Any

from mcp.client.client import Client

from meta.strangers.mcp.loops import Json, Loop

PATIENCE = 30


class Official:
    """The SDK's client, on an event loop of its own."""

    def __init__(self, name: str, url: str) -> None:
        self.name = name
        self.sdk: Any = Client(url)
        self.loop = asyncio.new_event_loop()
        self.ready, self.over = Event(), asyncio.Event()
        self.wrong: BaseException | None = None
        Thread(target=self.loop.run_forever, daemon=True).start()

    def connect(self) -> None:
        self.living = asyncio.run_coroutine_threadsafe(self.live(), self.loop)
        self.ready.wait(PATIENCE)
        if self.wrong is not None:
            raise RuntimeError(f"cannot connect: {self.wrong!r}")

    async def live(self) -> None:
        """Be connected until the end: what the SDK has opened is closed by the task that opened it."""
        try:
            async with self.sdk:
                self.ready.set()
                await self.over.wait()
        except BaseException as error:
            self.wrong = error
            raise
        finally:
            self.ready.set()

    def done(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(PATIENCE)

    def list(self) -> list[Json]:
        found: list[Json] = self.done(self.listed()) if self.sdk.server_capabilities.tools else []
        return found

    async def listed(self) -> Any:
        tools: Any = []
        cursor = None
        while True:
            page = await self.sdk.list_tools(cursor=cursor)
            tools += [one.model_dump(by_alias=True, exclude_none=True) for one in page.tools]
            cursor = page.next_cursor
            if cursor is None:
                return tools

    def call(self, name: str, arguments: Json) -> Json:
        found: Json = self.done(self.sdk.call_tool(name, arguments)).model_dump(by_alias=True, exclude_none=True)
        return found

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.over.set)
        with suppress(Exception):
            self.living.result(PATIENCE)
        self.loop.call_soon_threadsafe(self.loop.stop)


class OverTheSdk(Loop):
    """The loop of the others, over the SDK."""

    client = Official  # type: ignore[assignment]
