"""Request bodies: read whole before anybody looks at them, up to a limit."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from looptck_reference.server.dialects import ServerDialect
from looptck_reference.server.errors import Refused
from looptck_reference.server.http.answers import error_answer

__all__ = ["BoundedBodies"]


class BoundedBodies:
    """Refuses what is larger than `limit` bytes, announced or not, without reading on."""

    def __init__(self, app: ASGIApp, limit: int, dialect: ServerDialect) -> None:
        self._app = app
        self._limit = limit
        self._dialect = dialect

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = None if self._announces_more(scope) else await self._read(receive)
        if body is None:
            error = Refused(413, f"the body is larger than {self._limit} bytes")
            answer = error_answer(error, scope["path"], self._dialect)
            answer.headers["connection"] = "close"
            await answer(scope, receive, send)
            return
        await self._app(scope, _again(body, receive), send)

    def _announces_more(self, scope: Scope) -> bool:
        lengths = [value for name, value in scope["headers"] if name == b"content-length"]
        return any(length.isdigit() and int(length) > self._limit for length in lengths)

    async def _read(self, receive: Receive) -> bytes | None:
        body = bytearray()
        while True:
            message = await receive()
            body += message.get("body", b"")
            if len(body) > self._limit:
                return None
            if not message.get("more_body", False):
                return bytes(body)


def _again(body: bytes, receive: Receive) -> Receive:
    """The body as one message, then whatever comes."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_message
