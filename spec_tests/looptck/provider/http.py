"""HTTP/1.1 for the provider: small, on asyncio.Protocol, with control over every byte, chunk border and break.

Frameworks hide chunk borders and refuse to send malformed data; this server sends exactly the given parts.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from time import perf_counter

from looptck.provider.gate import Gate
from looptck.provider.http_fit import CHUNKED, Fitted
from looptck.provider.http_reader import MAX_BODY, MAX_HEAD, HttpRequest, RequestReader

__all__ = ["LAST_CHUNK", "Connection", "Handler", "HttpReply", "HttpRequest", "chunked", "head"]

_REASONS = {status.value: status.phrase for status in HTTPStatus}

AT_ONCE = 50
"""How many requests of one connection are answered before others get their turn."""
LINGERING = 2.0
"""Seconds in which a client that is still sending may read why it was refused, before the connection is closed."""
ESTABLISHED = 1
"""The state of a TCP connection that neither side has closed, as Linux numbers it."""


@dataclass(slots=True)
class HttpReply:
    """The exact bytes of a reply, with gates between them. ``then_close`` breaks the connection after the last."""

    parts: list[bytes | Gate]
    """Parts may be added while a gate before them is closed."""
    patience: float = 5.0
    rest: Callable[[], float] | None = None
    """The seconds for which the implementation has been at rest; None: unknown."""
    then_close: bool = False
    closes: bool = False
    """Whether the reply announces that the connection is closed behind it."""
    sent: Callable[[], None] | None = None
    """Called just before the last part is passed to the transport, so that it happens before any later event."""
    gave_up: Callable[[Gate], None] | None = None
    waited: Callable[[float], None] | None = None
    """Called with the seconds that the reply has waited at a gate."""
    dropped: Callable[[], object] | None = None
    """Called instead of ``sent`` if the client closes the connection early."""
    failed: Callable[[Exception], None] | None = None
    """Called with an error of looptck itself while the reply is sent; the connection is broken then."""


Handler = Callable[[HttpRequest], HttpReply | None]
"""Answers a request; None closes the connection without a reply."""


def head(status: int, headers: list[tuple[str, str]], *, length: int | None) -> bytes:
    """The status line and headers; a length of None announces chunks."""
    size = b"transfer-encoding: chunked" if length is None else b"content-length: %d" % length
    return b"%b%b\r\n\r\n" % (_head(status, tuple(headers)), size)


@lru_cache(maxsize=64)
def _head(status: int, headers: tuple[tuple[str, str], ...]) -> bytes:
    """The status line and headers that replies of one kind share."""
    lines = [f"HTTP/1.1 {status} {_REASONS.get(status, 'Status')}", *(f"{name}: {value}" for name, value in headers)]
    return "\r\n".join([*lines, ""]).encode("latin-1")


def chunked(piece: bytes) -> bytes:
    """One chunk of a chunked body; no bytes make no chunk, since an empty chunk would end the body."""
    return b"%x\r\n%b\r\n" % (len(piece), piece) if piece else b""


LAST_CHUNK = b"0\r\n\r\n"


class Connection(asyncio.Protocol):
    """One client connection: requests one after the other, kept alive; ``most`` is the most bytes of a body."""

    def __init__(
        self, handler: Handler, loop: asyncio.AbstractEventLoop, alive: set[Connection], most: int = MAX_BODY
    ) -> None:
        self._handler = handler
        self._loop = loop
        self._alive = alive
        """The open connections of this server; a closed connection removes itself."""
        self._reader = RequestReader(most)
        self._most_waiting = most + MAX_HEAD
        """How many bytes may have been received behind the request that is being answered."""
        self._transport: asyncio.Transport | None = None
        self._playing: asyncio.Task[None] | None = None
        self._fit: Fitted | None = None
        """How the last reply on this connection is sent; None: another may follow."""
        self._is_refused = False
        self._is_full = False
        """Whether the client does not read what it is sent."""
        self._is_held = False
        """Whether nothing more is read from it for now."""

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
        if self._is_refused:
            return
        self._reader.feed(data)
        self._serve()
        if self._transport is not None and self._reader.size > self._most_waiting:
            self._is_held = True
            self._transport.pause_reading()

    def pause_writing(self) -> None:
        self._is_full = True

    def resume_writing(self) -> None:
        self._is_full = False
        self._loop.call_soon(self._serve)

    def _serve(self) -> None:
        """Answer what has been received, as long as it is this connection's turn and its client reads."""
        if self._transport is not None and self._is_held and self._reader.size <= self._most_waiting:
            self._is_held = False
            self._transport.resume_reading()
        left = AT_ONCE
        while self._transport is not None and self._playing is None and not self._is_full and not self._is_refused:
            if not left:
                self._loop.call_soon(self._serve)
                return
            left -= 1
            try:
                request = self._reader.next()
            except ValueError as error:
                self._refuse(self._reader.refused(str(error)))
                return
            if request is None:
                if self._reader.waits:
                    self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                return
            reply = self._handler(request)
            if request.is_last or request.method == "HEAD" or (reply is not None and _ends_with(reply, request)):
                self._fit = Fitted(request)
            self._answer(reply)

    def _refuse(self, request: HttpRequest) -> None:
        """Say what is wrong, and read on for a while: a client that sends sees a broken connection otherwise."""
        self._is_refused = True
        reply = self._handler(request) if request.path else None
        transport = self._transport
        if transport is None:
            return
        if reply is not None and isinstance(reply.parts[0], bytes):
            transport.write(reply.parts[0])
        else:
            body = request.wrong.encode()
            transport.write(head(400, [("content-type", "text/plain")], length=len(body)) + body)
        if request.path:  # its body is still on its way
            transport.write_eof()
            self._loop.call_later(LINGERING, self.abort)
        else:
            transport.close()

    def _answer(self, reply: HttpReply | None) -> None:
        transport = self._transport
        if transport is None:
            return
        if reply is None:
            transport.close()
        elif len(reply.parts) == 1 and isinstance(reply.parts[0], bytes):
            try:
                if reply.sent:
                    reply.sent()
                transport.write(self._fit(reply.parts[0]) if self._fit else reply.parts[0])
            except Exception as error:  # noqa: BLE001 - an error of looptck, which must not look like a silent service
                self._failed(reply, error)
            if reply.then_close or self._fit:
                transport.close()
        else:
            self._playing = self._loop.create_task(self._play(reply, transport))

    def _failed(self, reply: HttpReply, error: Exception) -> None:
        if reply.failed:
            reply.failed(error)
        self.abort()

    async def _play(self, reply: HttpReply, transport: asyncio.Transport) -> None:
        try:
            await self._send(reply, transport)
        except asyncio.CancelledError:
            if reply.dropped:
                reply.dropped()
            raise
        except Exception as error:  # noqa: BLE001 - as above
            self._failed(reply, error)
            return
        if reply.then_close or self._fit:
            transport.close()
        self._playing = None
        self._loop.call_soon(self._serve)

    async def _send(self, reply: HttpReply, transport: asyncio.Transport) -> None:
        last = len(reply.parts) - 1
        for position, part in enumerate(reply.parts):
            if position == last and reply.sent:
                reply.sent()
            if isinstance(part, Gate):
                began = perf_counter()
                if not await part.wait(reply.patience, reply.rest) and reply.gave_up:
                    reply.gave_up(part)
                if reply.waited:
                    reply.waited(perf_counter() - began)
            else:
                transport.write(self._fit(part) if self._fit else part)
                await asyncio.sleep(0)

    @property
    def peer(self) -> int:
        """The port of the client; 0 once one of the two has closed the connection."""
        transport = self._transport
        if transport is None or not _is_open(transport.get_extra_info("socket")):
            return 0
        return int(transport.get_extra_info("peername")[1])

    @property
    def answering(self) -> bool:
        """Whether a reply is not sent to its end: it is held, or its client does not read it."""
        return self._playing is not None or self._is_full

    @property
    def receiving(self) -> bool:
        """Whether a request has been received only in part."""
        return self._reader.receiving


def _ends_with(reply: HttpReply, request: HttpRequest) -> bool:
    """Whether only the end of the connection ends a reply, or it says that the connection is closed behind it."""
    start = next((part for part in reply.parts if isinstance(part, bytes)), b"")
    return reply.closes or (request.version == "HTTP/1.0" and CHUNKED in start)


def _is_open(connection: socket.socket) -> bool:
    """Whether neither side has closed the connection; only Linux tells that the client has, before it is read."""
    if not hasattr(socket, "TCP_INFO"):
        return True
    try:
        return connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] == ESTABLISHED
    except OSError:  # closed in this moment
        return False
