"""Connections to the outside, in several pools.

A pool of httpcore looks at all of its connections whenever one is wanted or given back, so that 200 runs at a time
spend half of their time there; in small pools there is little to look at.
"""

from __future__ import annotations

import asyncio
from itertools import cycle
from typing import Any

import httpx

__all__ = ["Pools"]

POOLS = 16


class Pools(httpx.AsyncBaseTransport):
    """Takes the pools in turn; `most` connections all together."""

    def __init__(self, *, verify: Any, most: int) -> None:
        limits = httpx.Limits(max_connections=most // POOLS + 1, max_keepalive_connections=None)
        self._all = [httpx.AsyncHTTPTransport(verify=verify, trust_env=False, limits=limits) for _ in range(POOLS)]
        self._next = cycle(self._all)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send it through the next pool."""
        return await next(self._next).handle_async_request(request)

    async def aclose(self) -> None:
        """Close all of them."""
        await asyncio.gather(*(pool.aclose() for pool in self._all))
