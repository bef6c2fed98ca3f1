"""Bounded reading of incoming data."""

from __future__ import annotations

import httpx

__all__ = ["TooLarge", "read_bounded"]


class TooLarge(Exception):
    """There was more than `limit` bytes."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"more than {limit} bytes")
        self.limit = limit


async def read_bounded(response: httpx.Response, limit: int) -> bytes:
    """The decompressed body, which is not read beyond the limit.

    Raises:
        TooLarge: the body is longer.
    """
    content = bytearray()
    async for piece in response.aiter_bytes():
        content += piece
        if len(content) > limit:
            raise TooLarge(limit)
    return bytes(content)
