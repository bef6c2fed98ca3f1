"""The capturing proxy: passes requests on to one upstream, and logs each reply chunk by chunk, with its time.

It is a process of its own, so that vcrpy, which joins whole streams, does not patch it. ``python -m
looptck.commands.recording.proxy`` reads a line of JSON from stdin, writes its port to stdout, and stops when stdin is
closed. ``GET /-/log`` returns the exchanges since the last such request.

Chunks have the borders at which the bytes came: where the upstream's HTTP chunks end, and within one where the network
cut it. A break is passed on as a break. Compressed replies are passed on decoded, so the borders are those of the text.
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import Any

import httpx

from looptck.provider.growing_reply import GrowingReply
from looptck.provider.http import LAST_CHUNK, Connection, HttpReply, HttpRequest, chunked, head

LOG_PATH = "/-/log"
MAX_REPLY = 16 * 1024 * 1024
"""The most bytes of a reply: no cassette may have more."""
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
"""Headers that concern one connection."""
_NOT_SENT = {*_HOP, "host", "accept-encoding"}
_NOT_GIVEN = {*_HOP, "content-encoding"}


@dataclass(slots=True)
class Seen:
    """A request and its reply."""

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
    """Why the reply is missing or incomplete; empty where the connection broke off."""

    def note(self, piece: bytes, began: float) -> None:
        """Add a piece of the reply. Raises OverflowError where there are too many bytes."""
        self.body += piece
        if len(self.body) > MAX_REPLY:
            raise OverflowError(f"has more than {MAX_REPLY} bytes")
        self.ends.append(len(self.body))
        self.times.append(round((time.monotonic() - began) * 1000, 1))

    def serializable(self) -> dict[str, Any]:
        """As ``looptck.commands.recording.traffic_log`` reads it."""
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
    """Passes ``/v1/…`` on to the upstream's base URL."""

    def __init__(self, base_url: str, patience: float) -> None:
        self._base = httpx.URL(base_url)
        self._patience = patience
        local = self._base.host in {"127.0.0.1", "localhost"}
        once = httpx.Limits(max_keepalive_connections=0)  # one that is kept may be closed under the next request
        self._client = httpx.AsyncClient(timeout=None, limits=once, trust_env=not local)  # noqa: S113  see _pass_on
        self._seen: list[Seen] = []
        self._under_way: set[asyncio.Task[None]] = set()

    def answer(self, request: HttpRequest) -> HttpReply:
        """The reply to any request, which grows while the upstream's comes."""
        reply = GrowingReply(self._patience)
        path = request.path.partition("?")[0]
        given = self._give_log if path == LOG_PATH else self._pass_on
        task = asyncio.get_running_loop().create_task(given(request, Seen(path, request.headers, request.body), reply))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        reply.http.dropped = task.cancel
        return reply.http

    async def _give_log(self, request: HttpRequest, seen: Seen, reply: GrowingReply) -> None:
        """Send what was seen, when nothing else is under way."""
        others = self._under_way - {asyncio.current_task()}
        await asyncio.gather(*others, return_exceptions=True)
        found, self._seen = self._seen, []
        reply.end(_check_reply(200, "application/json", json.dumps([one.serializable() for one in found])))

    async def _pass_on(self, request: HttpRequest, seen: Seen, reply: GrowingReply) -> None:
        """Send the upstream's reply as it comes; the whole of it has to come in time."""
        sent = {name: value for name, value in request.headers.items() if name not in _NOT_SENT}
        self._seen.append(seen)
        self._client.cookies.clear()  # the clients keep them
        began = time.monotonic()
        try:
            async with (
                asyncio.timeout(self._patience),
                self._client.stream(request.method, self._url(request), headers=sent, content=seen.request) as answer,
            ):
                seen.status = answer.status_code
                seen.headers = dict(answer.headers)
                headers = [(name, value) for name, value in answer.headers.items() if name not in _NOT_GIVEN]
                reply.add(head(answer.status_code, headers, length=None))
                async for piece in answer.aiter_bytes():
                    seen.note(piece, began)
                    reply.add(chunked(piece))
                reply.end(LAST_CHUNK)
                return
        except asyncio.CancelledError:
            seen.trouble = "was left by the client"
            raise
        except TimeoutError:
            seen.trouble = f"was not complete after {self._patience:g} s"
        except (OverflowError, httpx.DecodingError) as error:
            seen.trouble = str(error)
        except httpx.TransportError as error:
            seen.broken = bool(seen.status)
            seen.trouble = "" if seen.broken else f"never came: {type(error).__name__}: {error}"
        reply.end(b"" if seen.status else _check_reply(502, "text/plain", seen.trouble), then_close=bool(seen.status))

    def _url(self, request: HttpRequest) -> httpx.URL:
        """``/v1`` is replaced by the base URL; the query is the base URL's, followed by the request's."""
        path, _, query = request.path.partition("?")
        query = "&".join(part for part in (self._base.query.decode(), query) if part)
        below = self._base.path.rstrip("/") + path.removeprefix("/v1")
        return self._base.copy_with(path=below, query=query.encode() or None)


def _check_reply(status: int, type: str, text: str) -> bytes:
    """A reply with its length."""
    body = text.encode()
    return head(status, [("content-type", type)], length=len(body)) + body


async def _main() -> None:
    options = json.loads(await asyncio.to_thread(sys.stdin.readline))
    proxy = Proxy(options["base_url"], options["patience"])
    loop = asyncio.get_running_loop()
    connections: set[Connection] = set()
    server = await loop.create_server(lambda: Connection(proxy.answer, loop, connections), "127.0.0.1", 0)
    sys.stdout.write(json.dumps({"port": server.sockets[0].getsockname()[1]}) + "\n")
    sys.stdout.flush()
    await _stdin_closed()
    server.close()
    for connection in list(connections):
        connection.abort()


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
