"""The requests of one run over an httpx client: one response at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx

from looptck_reference.http.exchange import Read, Send

__all__ = ["AsyncLine", "Line"]


class Line:
    """Sends the requests of an exchange and reads the replies; `trace` follows what happens on the way."""

    def __init__(self, client: httpx.Client, trace: Callable[[str, dict[str, Any]], None] | None = None) -> None:
        self._client = client
        self._trace = trace
        self._response: httpx.Response | None = None
        self._bytes: Iterator[bytes] = iter(())

    def do(self, step: Send | Read) -> httpx.Response | bytes | httpx.HTTPError | None:
        """The result of a step."""
        try:
            if isinstance(step, Read):
                return next(self._bytes, None)
            self.close()
            if self._trace is not None:
                step.request.extensions["trace"] = self._trace
            self._response = self._client.send(step.request, stream=True)
            self._bytes = self._response.iter_bytes()
        except httpx.HTTPError as error:
            return error
        return self._response

    def close(self) -> None:
        """Close the latest response."""
        if self._response is not None:
            self._response.close()


class AsyncLine:
    """The same for an asynchronous client."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client
        self._response: httpx.Response | None = None
        self._bytes: AsyncIterator[bytes] | None = None

    async def do(self, step: Send | Read) -> httpx.Response | bytes | httpx.HTTPError | None:
        """The result of a step."""
        try:
            if isinstance(step, Read):
                return None if self._bytes is None else await anext(self._bytes, None)
            await self.aclose()
            self._response = await self._client.send(step.request, stream=True)
            self._bytes = self._response.aiter_bytes()
        except httpx.HTTPError as error:
            return error
        return self._response

    async def aclose(self) -> None:
        """Close the latest response."""
        if self._response is not None:
            await self._response.aclose()
