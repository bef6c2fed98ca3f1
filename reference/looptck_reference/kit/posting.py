"""Posts of JSON to the kit: one for each run of a tool, over connections that are kept.

A client for every server costs more for such a post than the tool, the loop and the kit together. The kit answers each
post with JSON whose length it says, or closes the connection.
"""

from __future__ import annotations

import asyncio
import json
import select
import socket
from collections.abc import Mapping
from typing import Any, Self
from urllib.parse import SplitResult, urlsplit

from looptck_reference.vocabulary.values import Json

__all__ = ["AsyncPosts", "Posts"]

TIMEOUT = 30.0
"""Seconds until the kit has to have answered."""
END = b"\r\n\r\n"
"""The end of a reply's headers."""
PIECE = 65536


class Posts:
    """Posts from any thread; each thread has a connection to itself while it waits."""

    def __init__(self) -> None:
        self._idle: list[tuple[str, socket.socket]] = []

    def post(self, url: str, message: Mapping[str, Any]) -> Json:
        """Post a message; the reply.

        Raises:
            OSError: the kit has refused the message, or is not there.
        """
        place = urlsplit(url)
        request = _request(place, message)
        connection = self._connection(place)
        try:
            connection.sendall(request)
            reply = _received(connection, url)
        except BaseException:
            connection.close()
            raise
        self._idle.append((place.netloc, connection))
        return reply

    def close(self) -> None:
        """Close the connections that nothing waits at."""
        while self._idle:
            self._idle.pop()[1].close()

    def _connection(self, place: SplitResult) -> socket.socket:
        while self._idle:
            netloc, connection = self._idle.pop()
            if netloc == place.netloc and not select.select([connection], [], [], 0)[0]:
                return connection
            connection.close()  # it was closed on the other side, or leads to another kit
        return socket.create_connection((place.hostname or "", place.port or 80), TIMEOUT)


def _received(connection: socket.socket, url: str) -> Json:
    data = b""
    while END not in data:
        data += _piece(connection, url)
    head, _, body = data.partition(END)
    length = _length(head)
    while len(body) < length:
        body += _piece(connection, url)
    return _read(head, body, url)


def _piece(connection: socket.socket, url: str) -> bytes:
    if not (piece := connection.recv(PIECE)):
        raise ConnectionError(f"POST {url}: the connection was closed before the reply")
    return piece


class AsyncPosts:
    """The same for the tasks of one event loop."""

    def __init__(self) -> None:
        self._idle: list[tuple[str, asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    async def post(self, url: str, message: Mapping[str, Any]) -> Json:
        """Post a message; the reply.

        Raises:
            OSError: the kit has refused the message, or is not there.
        """
        place = urlsplit(url)
        request = _request(place, message)
        async with asyncio.timeout(TIMEOUT):
            reader, writer = await self._connection(place)
            try:
                writer.write(request)
                head = await reader.readuntil(END)
                body = await reader.readexactly(_length(head))
            except asyncio.IncompleteReadError as error:
                writer.close()
                raise ConnectionError(f"POST {url}: the connection was closed before the reply") from error
            except BaseException:
                writer.close()
                raise
        self._idle.append((place.netloc, reader, writer))
        return _read(head, body, url)

    def close(self) -> None:
        """Close the connections that nothing waits at, on their event loop."""
        while self._idle:
            self._idle.pop()[2].close()

    async def _connection(self, place: SplitResult) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        while self._idle:
            netloc, reader, writer = self._idle.pop()
            if netloc == place.netloc and not reader.at_eof() and not writer.is_closing():
                return reader, writer
            writer.close()
        return await asyncio.open_connection(place.hostname, place.port or 80)


def _request(place: SplitResult, message: Mapping[str, Any]) -> bytes:
    body = json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    path = f"{place.path or '/'}?{place.query}" if place.query else place.path or "/"
    head = f"POST {path} HTTP/1.1\r\nhost: {place.netloc}\r\ncontent-type: application/json\r\n"
    return f"{head}content-length: {len(body)}\r\n\r\n".encode("latin-1") + body


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    raise ConnectionError("the reply of the kit does not say how long it is")


def _read(head: bytes, body: bytes, url: str) -> Json:
    status = head.split(None, 2)[1]
    if status != b"200":
        raise ConnectionError(f"POST {url}: {status.decode('latin-1')}: {body[:500].decode(errors='replace')}")
    reply: Json = json.loads(body)
    return reply
