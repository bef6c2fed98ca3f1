"""A server that answers with given bytes in order, for a plain client and for a loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

from looptck.provider.http import Connection, HttpReply, HttpRequest


class Replayer:
    """The server, in a thread of its own."""

    def __init__(self) -> None:
        self._replies: list[bytes] = []
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        listening = self._loop.create_server(lambda: Connection(self._answer, self._loop, set()), "127.0.0.1", 0)
        server = asyncio.run_coroutine_threadsafe(listening, self._loop).result()
        self.origin = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"

    def replies(self, replies: Sequence[bytes]) -> None:
        """Answer the next requests with these, one after the other."""
        self._replies = list(reversed(replies))

    def _answer(self, request: HttpRequest) -> HttpReply:
        return HttpReply([self._replies.pop()])
