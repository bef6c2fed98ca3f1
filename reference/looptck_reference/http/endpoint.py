"""The address of a run's requests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

import httpx

from looptck_reference.vocabulary.errors import ConnectionLost, LoopError

if TYPE_CHECKING:
    from looptck_reference.wires.base import Wire

__all__ = ["Endpoint"]


class Endpoint:
    """A provider's base URL with the path of a wire, and the headers that the wire sends."""

    def __init__(self, client: httpx.Client | httpx.AsyncClient, base_url: str, api_key: str, wire: Wire) -> None:
        self.wire = wire
        self._client = client
        self._url = base_url.rstrip("/") + wire.path
        self._headers = {"content-type": "application/json", **wire.headers(api_key)}

    def request(self, content: bytes, headers: Mapping[str, str]) -> httpx.Request:
        """A request with this body."""
        return self._client.build_request(
            "POST", self._parsed_url, headers={**self._headers, **headers}, content=content
        )

    @cached_property
    def _parsed_url(self) -> httpx.URL:
        """The URL, which is parsed for the first request, and not again for each."""
        return httpx.URL(self._url)

    @contextmanager
    def reached(self, failure: type[LoopError] = ConnectionLost) -> Iterator[None]:
        """Raise a connection failure as one of the loop's own errors."""
        try:
            yield
        except httpx.HTTPError as error:
            message = f"POST {self._url}: {type(error).__name__}: {error or 'no reason given'}; is it running?"
            raise failure(message) from error
