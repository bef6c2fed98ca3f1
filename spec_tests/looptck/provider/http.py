"""HTTP/1.1 for the provider: small, on asyncio.Protocol, so that every byte, border and break is ours.

Frameworks hide chunk borders and refuse to send what is malformed; this server sends exactly the parts it is given.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from looptck.provider.gates import Gate

MAX_HEAD = 64 * 1024
MAX_BODY = 64 * 1024 * 1024

_CHUNK_SIZE = re.compile(rb"[0-9A-Fa-f]{1,8}")
_REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found", 429: "Too Many Requests", 500: "Internal Server Error"}


@dataclass(slots=True)
class HttpRequest:
    """A whole request."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(slots=True)
class HttpReply:
    """The exact bytes of a reply, with gates between them. ``then_close`` breaks the connection after the last."""

    parts: list[bytes | Gate]
    patience: float = 5.0
    then_close: bool = False
    sent: Callable[[], None] | None = None
    """Called when all parts have been handed to the transport, just before the last: what follows may rely on it."""
    gave_up: Callable[[Gate], None] | None = None
    dropped: Callable[[], None] | None = None
    """Called in place of ``sent`` where the client has closed the connection before."""


Handler = Callable[[HttpRequest], HttpReply | None]
"""Answers a request; None closes the connection without a word."""


def head(status: int, headers: list[tuple[str, str]], *, length: int | None) -> bytes:
    """The status line and headers; a length of None announces chunks."""
    size = b"transfer-encoding: chunked" if length is None else b"content-length: %d" % length
    return b"%b%b\r\n\r\n" % (_head(status, tuple(headers)), size)


@lru_cache(maxsize=64)
def _head(status: int, headers: tuple[tuple[str, str], ...]) -> bytes:
    """What replies of one kind have in common."""
    lines = [f"HTTP/1.1 {status} {_REASONS.get(status, 'Status')}", *(f"{name}: {value}" for name, value in headers)]
    return "\r\n".join([*lines, ""]).encode("latin-1")


def chunked(piece: bytes) -> bytes:
    """One chunk of a chunked body; no bytes are no chunk, for an empty one would end the body."""
    return b"%x\r\n%b\r\n" % (len(piece), piece) if piece else b""


LAST_CHUNK = b"0\r\n\r\n"


class Connection(asyncio.Protocol):
    """One client connection: requests one after the other, kept alive."""

    def __init__(self, handler: Handler, loop: asyncio.AbstractEventLoop, alive: set[Connection]) -> None:
        self._handler = handler
        self._loop = loop
        self._alive = alive
        """The connections of this server; one that is lost takes itself out."""
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None
        self._playing: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._alive.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._alive.discard(self)
        if self._playing is not None:
            self._playing.cancel()

    def abort(self) -> None:
        """Break the connection now."""
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._serve()

    def _serve(self) -> None:
        while self._transport is not None and self._playing is None:
            try:
                request = self._take()
            except ValueError as error:
                self._refuse(str(error))
                return
            if request is None:
                return
            self._answer(self._handler(request))

    def _refuse(self, why: str) -> None:
        if self._transport is not None:
            body = why.encode()
            self._transport.write(head(400, [("content-type", "text/plain")], length=len(body)) + body)
            self._transport.close()

    def _answer(self, reply: HttpReply | None) -> None:
        transport = self._transport
        if transport is None:
            return
        if reply is None:
            transport.close()
        elif len(reply.parts) == 1 and isinstance(reply.parts[0], bytes):
            if reply.sent:
                reply.sent()
            transport.write(reply.parts[0])
            if reply.then_close:
                transport.close()
        else:
            self._playing = self._loop.create_task(self._play(reply, transport))

    async def _play(self, reply: HttpReply, transport: asyncio.Transport) -> None:
        try:
            await self._send(reply, transport)
        except asyncio.CancelledError:
            if reply.dropped:
                reply.dropped()
            raise
        if reply.then_close:
            transport.close()
        self._playing = None
        self._loop.call_soon(self._serve)

    async def _send(self, reply: HttpReply, transport: asyncio.Transport) -> None:
        last = len(reply.parts) - 1
        for position, part in enumerate(reply.parts):
            if position == last and reply.sent:
                reply.sent()
            if isinstance(part, Gate):
                if not await part.wait(reply.patience) and reply.gave_up:
                    reply.gave_up(part)
            else:
                transport.write(part)
                await asyncio.sleep(0)

    @property
    def receiving(self) -> bool:
        """Whether part of a request is there and the rest is still to come."""
        return bool(self._buffer)

    def _take(self) -> HttpRequest | None:
        """The next whole request in the buffer. Raises ValueError where it is not HTTP/1.1 or too large."""
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self._buffer) > MAX_HEAD:
                raise ValueError(f"a request head of more than {MAX_HEAD} bytes")
            return None
        lines = self._buffer[:end].decode("latin-1").split("\r\n")
        words = lines[0].split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            raise ValueError(f"{lines[0][:80]!r} is not an HTTP/1.1 request line")
        headers: dict[str, str] = {}
        for name, _, value in (line.partition(":") for line in lines[1:]):
            earlier = headers.get(name.strip().lower())
            headers[name.strip().lower()] = value.strip() if earlier is None else f"{earlier}, {value.strip()}"
        if headers.get("transfer-encoding", "").lower() == "chunked":
            taken = self._chunked_body(end + 4)
        else:
            taken = self._measured_body(end + 4, headers.get("content-length", "0"))
        if taken is None:
            if headers.get("expect", "").lower() == "100-continue" and len(self._buffer) == end + 4:
                assert self._transport is not None
                self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            return None
        body, used = taken
        del self._buffer[:used]
        return HttpRequest(words[0], words[1], headers, body)

    def _measured_body(self, start: int, length: str) -> tuple[bytes, int] | None:
        if not length.isdigit() or int(length) > MAX_BODY:
            raise ValueError(f"content-length {length!r} is no number up to {MAX_BODY}")
        end = start + int(length)
        return (bytes(self._buffer[start:end]), end) if len(self._buffer) >= end else None

    def _chunked_body(self, at: int) -> tuple[bytes, int] | None:
        body = bytearray()
        while True:
            end = self._buffer.find(b"\r\n", at)
            if end < 0:
                return None
            word = bytes(self._buffer[at:end]).partition(b";")[0].strip()
            if not _CHUNK_SIZE.fullmatch(word):
                raise ValueError(f"{word[:20]!r} is no size of a chunk")
            size = int(word, 16)
            if len(body) + size > MAX_BODY:
                raise ValueError(f"a body of more than {MAX_BODY} bytes")
            if not size:
                last = self._buffer.find(b"\r\n\r\n", end)  # after the last chunk there may be trailer fields
                return (bytes(body), last + 4) if last >= 0 else None
            if len(self._buffer) < end + size + 4:
                return None
            body += self._buffer[end + 2 : end + 2 + size]
            at = end + size + 4
