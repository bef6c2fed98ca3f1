"""A minimal raw HTTP client for benchmarks: on asyncio.Protocol, to measure the servers and not the client."""

from __future__ import annotations

import asyncio
import re
from time import perf_counter
from urllib.parse import urlsplit

LAST_CHUNK = b"\r\n0\r\n\r\n"

_LENGTH = re.compile(rb"\r\ncontent-length: (\d+)\r\n", re.IGNORECASE)


class Conversation(asyncio.Protocol):
    """One kept-alive connection that sends the same request several times in sequence."""

    def __init__(self, request: bytes, times: int) -> None:
        self.reply = bytearray()
        """The current reply; at the end the last one."""
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._request = request
        self._left = times
        self._size = 0
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self.reply += data
        if not self._whole():
            return
        self._left -= 1
        assert self._transport is not None
        if self._left:
            self.reply.clear()
            self._size = 0
            self._transport.write(self._request)
        else:
            self.done.set_result(None)
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(exc or ConnectionError(f"the server closed the connection after {self.reply!r}"))

    def _whole(self) -> bool:
        """Whether the reply is complete: by its content-length, or else by the last chunk."""
        if not self._size:
            end = self.reply.find(b"\r\n\r\n")
            if end < 0:
                return False
            if not self.reply.startswith(b"HTTP/1.1 200 "):
                raise ConnectionError(f"the server answered {bytes(self.reply[:200])!r}")
            length = _LENGTH.search(self.reply, 0, end + 2)
            self._size = end + 4 + int(length[1]) if length else -1
        return len(self.reply) == self._size if self._size > 0 else self.reply.endswith(LAST_CHUNK)


def ask(url: str, body: bytes, *, times: int, connections: int) -> tuple[float, bytes]:
    """Send this request `times` times on each connection; return the duration in seconds, and one reply."""
    return asyncio.run(_ask(url, body, times, connections))


async def _ask(url: str, body: bytes, times: int, connections: int) -> tuple[float, bytes]:
    place = urlsplit(url)
    lines = [
        f"POST {place.path} HTTP/1.1",
        f"host: {place.netloc}",
        "content-type: application/json",
        "authorization: Bearer looptck-dummy-key",
        "x-api-key: looptck-dummy-key",
        "anthropic-version: 2023-06-01",
        f"content-length: {len(body)}",
    ]
    request = "\r\n".join([*lines, "", ""]).encode() + body
    loop = asyncio.get_running_loop()
    assert place.hostname is not None
    assert place.port is not None
    host, port = place.hostname, place.port
    start = perf_counter()
    made = [loop.create_connection(lambda: Conversation(request, times), host, port) for _ in range(connections)]
    askers = [asker for _, asker in await asyncio.gather(*made)]
    await asyncio.gather(*(asker.done for asker in askers))
    return perf_counter() - start, bytes(askers[0].reply)
