"""A client that sees a stream while it goes on, and may leave in the middle."""

from __future__ import annotations

import asyncio
import json
from collections.abc import MutableMapping
from typing import Any

from starlette.types import ASGIApp

from meta.reference.server.serving import QUESTION, WEATHER, Json, event


class LiveStream:
    """One request, driven by hand through ASGI."""

    def __init__(self, app: ASGIApp, *, path: str = "/v1/chat/completions", **body: Any) -> None:
        known = {"model": "m", "messages": [QUESTION], "tools": [WEATHER], "stream": True}
        self._left = asyncio.Event()
        self._asked = False
        self._content = json.dumps({**known, **body}).encode()
        self._blocks: asyncio.Queue[str | None] = asyncio.Queue()
        scope: Json = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "POST",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": [(b"content-type", b"application/json")],
        }
        self.task = asyncio.ensure_future(app(scope, self._receive, self._send))

    async def _receive(self) -> Json:
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": self._content, "more_body": False}
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: MutableMapping[str, Any]) -> None:
        for block in message.get("body", b"").decode().split("\n\n"):
            if block:
                self._blocks.put_nowait(block)
        if message["type"] == "http.response.body" and not message.get("more_body"):
            self._blocks.put_nowait(None)

    async def block(self) -> str | None:
        """The next event or comment as it came; None behind the last."""
        return await asyncio.wait_for(self._blocks.get(), 10)

    async def so_far(self) -> list[str]:
        """What has come, as it came; the server has had its chance to send all that it could."""
        for _ in range(100):
            await asyncio.sleep(0)
        return [block for block in (self._blocks.get_nowait() for _ in range(self._blocks.qsize())) if block]

    async def until(self, wanted: str) -> Any:
        """The data of the next event of this name or phase."""
        while (block := await self._event()) is not None:
            name, data = event(block)
            if wanted in {name, data.get("phase") if isinstance(data, dict) else data}:
                return data
        raise AssertionError(f"the stream ended without {wanted}")

    async def rest(self) -> list[tuple[str | None, Any]]:
        """All events that are left."""
        left = []
        while (block := await self._event()) is not None:
            left.append(event(block))
        await self.task
        return left

    async def _event(self) -> str | None:
        """The next that is no comment."""
        while (block := await self.block()) is not None and block.startswith(":"):
            pass
        return block

    async def leave(self) -> None:
        """Go; returns when the server has noticed."""
        self._left.set()
        await asyncio.wait_for(self.task, 10)
