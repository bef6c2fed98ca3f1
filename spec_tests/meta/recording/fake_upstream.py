"""A fake upstream: sends given bytes, or plays a case as the kit's provider does."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import Self

from looptck.bench.cases import Case
from looptck.provider.gate import Gate
from looptck.provider.http import LAST_CHUNK, Connection, HttpReply, HttpRequest, chunked, head
from looptck.provider.mock_run import MockRun
from looptck.provider.script import Script
from looptck.provider.toolbox import Toolbox
from looptck.wires import WIRES

EVENTS = [("content-type", "text/event-stream")]
JSON = [("content-type", "application/json")]

Answer = Callable[[HttpRequest], HttpReply | None]


class FakeUpstream:
    """An HTTP server on loopback, in a thread of its own. Use it as a context manager."""

    def __init__(self) -> None:
        self.answer: Answer = lambda _: None
        self.seen: list[HttpRequest] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._connections: set[Connection] = set()
        self._port = 0

    def __enter__(self) -> Self:
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def base_url(self) -> str:
        """As a person would name it."""
        return f"http://127.0.0.1:{self._port}/v1"

    def plays(self, case: Case, wire: str) -> None:
        """Answer as the script of a case says."""
        self.seen.clear()
        self.answer = playing(case, wire)

    def replies(self, *replies: HttpReply | None) -> None:
        """Answer with these, in order, the last one from then on."""
        self.seen.clear()
        left = list(replies)
        self.answer = lambda _: left.pop(0) if len(left) > 1 else left[0]

    def _noted(self, request: HttpRequest) -> HttpReply | None:
        self.seen.append(request)
        return self.answer(request)

    async def _listen(self) -> asyncio.Server:
        return await self._loop.create_server(
            lambda: Connection(self._noted, self._loop, self._connections), "127.0.0.1", 0
        )

    async def _close(self) -> None:
        self._server.close()
        while self._connections or len(asyncio.all_tasks()) > 1:
            for connection in list(self._connections):
                connection.abort()
            await asyncio.sleep(0)


def playing(case: Case, wire: str) -> Answer:
    """What answers as the script of a case says, once."""
    mock_run = MockRun(WIRES[wire], Script(case.steps), Toolbox())
    mock_run.opened("")
    return mock_run.answer


def whole(status: int, body: bytes, headers: Sequence[tuple[str, str]] = JSON) -> HttpReply:
    """A reply with its length."""
    return HttpReply([head(status, list(headers), length=len(body)) + body])


def stream(*chunks: bytes, headers: Sequence[tuple[str, str]] = EVENTS, breaks: bool = False) -> HttpReply:
    """A reply in these HTTP chunks, each written by itself; one that ``breaks`` lacks its end."""
    parts: list[bytes | Gate] = [head(200, list(headers), length=None), *map(chunked, chunks)]
    return HttpReply(parts if breaks else [*parts, LAST_CHUNK], then_close=breaks)


def hangs(*first: bytes) -> HttpReply:
    """A reply that never comes to its end; the gate is never opened."""
    return HttpReply([*first, Gate("for ever")], patience=600.0)
