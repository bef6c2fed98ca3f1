"""A client of the provider's HTTP without sockets: its end of a connection, and turns without an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from itertools import pairwise

from looptck.provider.http import Connection, HttpReply
from looptck.provider.http_reader import HttpRequest

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


class Wire(asyncio.Transport):
    """The client's end of a connection: it stores the written bytes."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.closed = False
        self.said_all = False
        self.reads = True

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Store the bytes that the server writes."""
        self.written += bytes(data)

    def close(self) -> None:
        """Record that the server has closed the connection."""
        self.closed = True

    def abort(self) -> None:
        """Record the same of a connection that the server has broken."""
        self.closed = True

    def write_eof(self) -> None:
        """Record that the server has nothing more to say."""
        self.said_all = True

    def pause_reading(self) -> None:
        """Record that the server reads no more."""
        self.reads = False

    def resume_reading(self) -> None:
        """Record that it reads again."""
        self.reads = True


class Turns:
    """Stands in for an event loop: what is called soon waits for its turn, and no time passes."""

    def __init__(self) -> None:
        self.soon: list[Callable[[], None]] = []
        self.later: list[Callable[[], None]] = []

    def call_soon(self, what: Callable[[], None]) -> None:
        """Keep it for the next turn."""
        self.soon.append(what)

    def call_later(self, _: float, what: Callable[[], None]) -> None:
        """Keep it for the end."""
        self.later.append(what)

    def turn(self) -> None:
        """Do what is to be done soon."""
        waiting, self.soon = self.soon, []
        for what in waiting:
            what()


class Client:
    """A connection to a server that answers OK, or with these replies, and stores the requests."""

    def __init__(self, *replies: HttpReply | None, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self.seen: list[HttpRequest] = []
        self.refused: list[HttpRequest] = []
        self.wire = Wire()
        self._replies = list(replies)
        self.turns = Turns()
        self.connection = Connection(self._answer, loop or self.turns, set())  # type: ignore[arg-type]
        self.connection.connection_made(self.wire)

    def send(self, pieces: Iterable[bytes]) -> Client:
        """Send these bytes, one piece at a time."""
        for piece in pieces:
            self.connection.data_received(piece)
        return self

    def _answer(self, request: HttpRequest) -> HttpReply | None:
        if request.wrong:
            self.refused.append(request)
            return None
        self.seen.append(request)
        return self._replies.pop(0) if self._replies else HttpReply([OK])


def at(data: bytes, *cuts: int) -> list[bytes]:
    """The data, split at these positions."""
    borders = [0, *sorted(cuts), len(data)]
    return [data[start:end] for start, end in pairwise(borders)]
