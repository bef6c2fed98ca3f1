"""The model calls of a run as HTTP requests and responses, without sending or receiving them.

Both runners share this, so that the only thing they do by themselves is to wait.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx

from looptck_reference.errors import ConnectionLost, LoopError, MalformedReply, ProviderError
from looptck_reference.reception import Reception
from looptck_reference.values import Delta, Turn
from looptck_reference.wires.text import error_message

if TYPE_CHECKING:
    from looptck_reference.actions import Ask
    from looptck_reference.loop import Loop
    from looptck_reference.wires.base import Wire

__all__ = ["Endpoint", "Exchange", "tls_for"]


class Endpoint:
    """Where a wire's requests go, and what each of them carries; made once, as httpx is slow at both."""

    def __init__(self, client: httpx.Client | httpx.AsyncClient, base_url: str, api_key: str, wire: Wire) -> None:
        self.wire = wire
        self._url = httpx.URL(base_url.rstrip("/") + wire.path)
        self._headers = httpx.Headers(client.headers)
        self._headers.update({"content-type": "application/json", **wire.headers(api_key)})
        self._extensions = {"timeout": client.timeout.as_dict()}

    def request(self, body: Any, headers: Mapping[str, str]) -> httpx.Request:
        """A request with this body. ASCII only: half a surrogate pair, which JSON allows, has no UTF-8."""
        content = json.dumps(body, separators=(",", ":")).encode("ascii")
        request = httpx.Request("POST", self._url, headers=self._headers, content=content, extensions=self._extensions)
        request.headers.update(headers)
        return request

    @contextmanager
    def reached(self, failure: type[LoopError] = ConnectionLost) -> Iterator[None]:
        """Say in the loop's own words that the connection failed."""
        try:
            yield
        except httpx.HTTPError as error:
            message = f"POST {self._url}: {type(error).__name__}: {error or 'no reason given'}; is the provider there?"
            raise failure(message) from error


class Exchange:
    """How the model is asked in one run, and how its replies become turns."""

    def __init__(self, endpoint: Endpoint, loop: Loop, *, stream: bool) -> None:
        self._endpoint = endpoint
        self._wire = endpoint.wire
        self._loop = loop
        self.stream = stream

    def request(self, ask: Ask) -> httpx.Request:
        """The question."""
        agent = self._loop.agent
        body = self._wire.request(agent, ask.history, stream=self.stream)
        return self._endpoint.request(body, self._wire.headers_for(agent))

    def comes_in_events(self, response: httpx.Response) -> bool:
        """Whether to read the response as an event stream: it was asked for, and this is no error and no JSON body."""
        if not self.stream or not response.is_success:
            return False
        return not response.headers.get("content-type", "").lower().startswith("application/json")

    def reception(self) -> Reception:
        """A reader for an event stream."""
        return Reception(self._wire, self._loop.forwards)

    def turn(self, response: httpx.Response) -> Turn:
        """The turn in a response that has been read to its end.

        Raises:
            ProviderError: the status is no success; nothing is retried.
            MalformedReply: the body is no JSON object.
        """
        if not response.is_success:
            message = f"{self._place(response)} answered {response.status_code}: {_words(response)}"
            raise ProviderError(message, status=response.status_code)
        try:
            reply = json.loads(response.content)
        except ValueError as error:
            raise MalformedReply(f"{self._place(response)} answered what is not JSON: {error}") from error
        if not isinstance(reply, dict):
            raise MalformedReply(f"{self._place(response)} answered JSON that is no object")
        return self._wire.decode(reply)

    def whole_text(self, turn: Turn) -> str:
        """What a streaming caller gets of a turn that came in one piece after all."""
        delta = Delta(turn.text, calling=bool(turn.calls))
        return turn.text if self.stream and self._loop.forwards(delta) else ""

    def _place(self, response: httpx.Response) -> str:
        return f"POST {response.request.url}"


def tls_for(base_url: str) -> ssl.SSLContext | bool:
    """What a client for this base URL alone verifies certificates with.

    Loading the trusted certificates takes httpx 17 ms. A client for plain HTTP gets a context that trusts none, so
    that HTTPS through it would fail, not go unchecked.
    """
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if base_url.startswith("http://") else True


def _words(response: httpx.Response) -> str:
    try:
        return error_message(json.loads(response.content))[:500]
    except ValueError:
        return response.text[:500] or response.reason_phrase
