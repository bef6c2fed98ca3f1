"""The capturing proxy: passes requests on to one upstream, and notes each reply chunk by chunk, with its time.

It is a process of its own, so that vcrpy, which joins whole streams, does not reach it. ``python -m
looptck.recording.proxy`` takes a line of JSON on stdin, says its port on stdout, and stops when stdin is closed.
``GET /-/tape`` gives what was noted since it was last asked.

The borders are those at which the bytes came: where the upstream's HTTP chunks end, and within one where the network
cut it. A break is passed on as a break. aiohttp is the server; the client is httpx, because aiohttp's drops the bytes
that came just before a break. Compressed replies are passed on decoded, so that the borders are those of the text.
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
import threading
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import httpx
from aiohttp import web

TAPE = "/-/tape"
MOST = 64 * 1024 * 1024
"""The most bytes of a request, and of a reply."""
_HOP = {
    "connection",
    "content-length",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
}
"""Headers that are about one connection."""
_NOT_SENT = {*_HOP, "host", "accept-encoding"}
_NOT_GIVEN = {*_HOP, "content-encoding"}


@dataclass(slots=True)
class Seen:
    """A request and its reply as they came by."""

    path: str
    request_headers: dict[str, str]
    request: bytes = b""
    status: int = 0
    """0: there was no reply."""
    headers: dict[str, str] = field(default_factory=dict)
    body: bytearray = field(default_factory=bytearray)
    ends: list[int] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    """In milliseconds since the request was sent."""
    broken: bool = False
    trouble: str = ""
    """Why there is no reply or not all of it, where it did not just break off."""

    def serializable(self) -> dict[str, Any]:
        """As ``looptck.recording.tape`` reads it."""
        return {
            "path": self.path,
            "request_headers": self.request_headers,
            "request": base64.b64encode(self.request).decode(),
            "status": self.status,
            "headers": self.headers,
            "body": base64.b64encode(self.body).decode(),
            "ends": self.ends,
            "times": self.times,
            "broken": self.broken,
            "trouble": self.trouble,
        }


class Proxy:
    """Passes ``/v1/…`` on to what lies below the upstream's base URL."""

    def __init__(self, base_url: str, patience: float) -> None:
        self._base = httpx.URL(base_url)
        self._patience = patience
        here = self._base.host in {"127.0.0.1", "localhost"}
        once = httpx.Limits(max_keepalive_connections=0)  # one that is kept may be closed under the next request
        self._client = httpx.AsyncClient(timeout=None, limits=once, trust_env=not here)  # noqa: S113  see _passed_on
        self._seen: list[Seen] = []
        self._under_way = 0
        self._idle = asyncio.Condition()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Whatever the proxy is asked."""
        if request.path == TAPE:
            return await self._tape()
        self._under_way += 1
        seen = Seen(request.path, {name.lower(): value for name, value in request.headers.items()})
        try:
            seen.request = await request.read()
            return await self._passed_on(request, seen)
        finally:
            self._seen.append(seen)
            self._under_way -= 1
            async with self._idle:
                self._idle.notify_all()

    async def _tape(self) -> web.Response:
        async with self._idle:
            await self._idle.wait_for(lambda: not self._under_way)
        seen, self._seen = self._seen, []
        return web.json_response([one.serializable() for one in seen])

    async def _passed_on(self, request: web.Request, seen: Seen) -> web.StreamResponse:
        """The upstream's reply, as it comes; patience is for all of it."""
        given: web.StreamResponse | None = None
        sent = [(name, value) for name, value in request.headers.items() if name.lower() not in _NOT_SENT]
        self._client.cookies.clear()  # they are the clients' to keep
        began = time.monotonic()
        try:
            async with (
                asyncio.timeout(self._patience),
                self._client.stream(request.method, self._url(request), headers=sent, content=seen.request) as reply,
            ):
                seen.status = reply.status_code
                seen.headers = dict(reply.headers)
                headers = [(name, value) for name, value in reply.headers.items() if name not in _NOT_GIVEN]
                given = web.StreamResponse(status=reply.status_code, headers=headers)
                await given.prepare(request)
                async for piece in _noted(reply, seen, began):
                    await given.write(piece)
                await given.write_eof()
                return given
        except asyncio.CancelledError:
            seen.trouble = "was left by the client"
            raise
        except TimeoutError:
            seen.trouble = f"was not over after {self._patience:g} s"
        except (OverflowError, httpx.DecodingError) as error:
            seen.trouble = str(error)
        except httpx.TransportError as error:
            seen.broken = given is not None
            seen.trouble = "" if given else f"never came: {type(error).__name__}: {error}"
        return _broken_off(request, given) if given else web.Response(status=502, text=seen.trouble)

    def _url(self, request: web.Request) -> httpx.URL:
        """``/v1`` stands for the base URL; the query is the base URL's, and the request's where it has one."""
        path = self._base.path.rstrip("/") + request.path.removeprefix("/v1")
        query = "&".join(part for part in (self._base.query.decode(), request.query_string) if part)
        return self._base.copy_with(path=path, query=query.encode() or None)


async def _noted(reply: httpx.Response, seen: Seen, began: float) -> AsyncIterator[bytes]:
    """The pieces of a reply as they come. Raises OverflowError where there are too many."""
    async for piece in reply.aiter_bytes():
        seen.body += piece
        if len(seen.body) > MOST:
            raise OverflowError(f"has more than {MOST} bytes")
        seen.ends.append(len(seen.body))
        seen.times.append(round((time.monotonic() - began) * 1000, 1))
        yield piece


def _broken_off(request: web.Request, given: web.StreamResponse) -> web.StreamResponse:
    """The reply as it is, with a connection that ends before it does."""
    if request.transport is not None:
        request.transport.close()
    return given


async def _main() -> None:
    told = json.loads(await asyncio.to_thread(sys.stdin.readline))
    proxy = Proxy(told["base_url"], told["patience"])
    app = web.Application(client_max_size=MOST)
    app.router.add_route("*", "/{path:.*}", proxy.answer)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    sys.stdout.write(json.dumps({"port": runner.addresses[0][1]}) + "\n")
    sys.stdout.flush()
    await _stdin_closed()
    await runner.cleanup()


async def _stdin_closed() -> None:
    """Wait for it in a thread that does not keep the process alive."""
    closed = asyncio.Event()
    loop = asyncio.get_running_loop()

    def wait() -> None:
        sys.stdin.read()
        loop.call_soon_threadsafe(closed.set)

    threading.Thread(target=wait, daemon=True).start()
    await closed.wait()


if __name__ == "__main__":
    asyncio.run(_main())
