"""Request bodies: read completely before they are processed, up to a limit."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from looptck_reference.server.config import Config
from looptck_reference.server.errors import Refused
from looptck_reference.server.http.answers import error_answer

__all__ = ["BoundedBodies"]


class BoundedBodies:
    """Refuses bodies that are larger than the limit, whether announced or not, without reading on."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        config: Config = scope["app"].state.simulator.config
        limit = config.limits.body
        body = None if _announces_more(scope, limit) else await _read(receive, limit)
        if body is None:
            error = Refused(413, f"the body is larger than {limit} bytes")
            answer = error_answer(error, scope["path"], config.dialect)
            answer.headers["connection"] = "close"
            await answer(scope, receive, send)
            return
        await self._app(scope, _again(body, receive), send)


def _announces_more(scope: Scope, limit: int) -> bool:
    lengths = [value for name, value in scope["headers"] if name == b"content-length"]
    return any(length.isdigit() and int(length) > limit for length in lengths)


async def _read(receive: Receive, limit: int) -> bytes | None:
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > limit:
            return None
        if not message.get("more_body", False):
            return bytes(body)


def _again(body: bytes, receive: Receive) -> Receive:
    """The body as one message, followed by the original messages."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_message
