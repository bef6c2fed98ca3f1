"""Visits: requests of clients on threads of their own, their replies read as they come."""

from __future__ import annotations

import contextlib
import ssl
import threading
from collections.abc import Generator
from concurrent.futures import Future
from functools import cache
from typing import Any

import httpx

from looptck.bench.client.ask import PATHS, Ask
from looptck.bench.client.events import Reader
from looptck.bench.client.reply import STREAMED, Reply, media_type
from looptck.values.jsontext import compact
from looptck.values.outcome import UNSTREAMED, Failed, Outcome, Value
from looptck.values.transcript import ServerEvent, Transcript
from looptck.values.verdicts import NotReached

KEY = "looptck-dummy-key"
JSON = {"content-type": "application/json"}
CROWDED = 3.0
"""How many patiences a client waits for a part of its reply, which others may delay."""
CRASHED = 500
"""The status of a server that has crashed on a request."""
MOST = 128 * 1024 * 1024
"""The most bytes of a reply that are read."""


class Visits:
    """The clients of one kit.

    ``patience`` is in seconds, between two reads of a reply; the reply of a run may take longer, as the bench watches
    the progress of all runs.
    """

    def __init__(self, patience: float) -> None:
        self._patience = patience

    def http(self, url: str, *, key: str = KEY) -> httpx.Client:
        """A client of a server, for its routes outside the loop. A request without a reply is an AssertionError."""
        return _Answered(**self._settings(url, key))

    def _settings(self, url: str, key: str, patiences: float = 1.0) -> dict[str, Any]:
        """What a client is made of. Each request has a new connection: one that is kept may be closed under it."""
        return {
            "base_url": url,
            "headers": _headers(key),
            "timeout": self._patience * patiences,
            "trust_env": False,
            "verify": _trust(),
            "limits": httpx.Limits(max_keepalive_connections=0),
        }

    def begin(
        self, url: str, ask: Ask, wire: str, transcript: Transcript, *, stream: bool, key: str = KEY
    ) -> tuple[Reply, Future[Outcome]]:
        """Ask a server; the reply fills as it comes, and the future ends with it."""
        reply = Reply(wire, stream)
        future: Future[Outcome] = Future()

        def visit() -> None:
            try:
                self._read(url, ask, reply, transcript, key)
                future.set_result(_outcome(reply))
            except Exception as error:  # noqa: BLE001  what the kit itself does wrong is raised where it is waited for
                future.set_exception(error)

        threading.Thread(target=visit, daemon=True, name="looptck client").start()
        return reply, future

    def _read(self, url: str, ask: Ask, reply: Reply, transcript: Transcript, key: str) -> None:
        reply.sent = body = compact(ask.body(reply.wire, stream=reply.stream))
        sent = iter([body]) if ask.chunked else body
        got: list[bytes] = []
        try:
            with (
                httpx.Client(**self._settings(url, key, CROWDED)) as client,
                client.stream("POST", PATHS[reply.wire], content=sent, headers=JSON) as response,
                contextlib.closing(_events(response, reply, transcript, got)) as events,
            ):
                reply.status, reply.headers = response.status_code, dict(response.headers)
                for event in events:
                    reply.events.append(event)
                    transcript.append(event)
                    if ask.on_event is not None and ask.on_event(event) is True:
                        reply.left = True
                        break
        except httpx.HTTPError as error:
            reply.broken = f"{type(error).__name__}: {error}"
        reply.raw = b"".join(got)


class _Answered(httpx.Client):
    """A client that holds a server to answering each request."""

    def send(self, request: httpx.Request, **how: Any) -> httpx.Response:
        """The whole reply.

        Raises:
            AssertionError: there is none, be it that the server has closed the connection, or that it is late.
        """
        try:
            return super().send(request, **how)
        except httpx.HTTPError as error:
            asked = f"{request.method} {request.url.path}"
            raise AssertionError(f"{asked} got no reply: {type(error).__name__}: {error}") from error


def _events(
    response: httpx.Response, reply: Reply, transcript: Transcript, got: list[bytes]
) -> Generator[ServerEvent, None, None]:
    """The events of a stream; of a plain reply there are none."""
    if "," in (coding := response.headers.get("content-encoding", "")):
        reply.broken = f"it is encoded more than once: {coding[:80]!r}"  # a few bytes could be any number
        return
    reader = Reader()
    streamed = media_type(response.headers) == STREAMED
    size = 0
    for piece in response.iter_bytes():
        got.append(piece)
        size += len(piece)
        if size > MOST:
            reply.broken = f"it is larger than {MOST} bytes"
            return
        if streamed:
            for name, value in reader.feed(piece):
                reply.comments = reader.comments
                yield ServerEvent(transcript.now(), name, value)
    if reader.rest.strip():
        reply.broken = f"its last event is cut: {reader.rest[-200:]!r}"


def _headers(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}", "x-api-key": key, "anthropic-version": "2023-06-01"}


@cache
def _trust() -> ssl.SSLContext:
    """Whom all clients trust; making it takes longer than a request."""
    return ssl.create_default_context()


def _outcome(reply: Reply) -> Outcome:
    """What the client saw, in the words of any other run."""
    if reply.ok and reply.unstreamed:
        return Failed("provider", UNSTREAMED, reply.unstreamed)
    if reply.ok:
        try:
            return Value(reply.text)
        except NotReached as error:
            return Failed("provider", "UnreadableReply", str(error))
    if reply.left:
        return Failed("cancelled", "ClientLeft", "the client went away")
    if reply.broken:
        return Failed("provider", "BrokenReply", str(reply))
    reason = "other" if reply.status == CRASHED else "provider"
    return Failed(reason, f"HTTP {reply.status}", str(reply))
