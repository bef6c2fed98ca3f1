"""A provider in this process, and each runner as a function."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx
import respx

from looptck_reference import OPENAI_CHAT, Agent, Answer, AsyncRunner, Runner, Wire
from meta.reference.reference_replies import CHAT, EVENT_STREAM, URL, Json

Run = Callable[..., Answer]


def run_sync(agent: Agent, wire: Wire = OPENAI_CHAT, **more: Any) -> Answer:
    """Run an agent in the sync runner."""
    with Runner(URL, "k", wire=wire) as runner:
        return runner.run(agent, **more)


def run_async(agent: Agent, wire: Wire = OPENAI_CHAT, **more: Any) -> Answer:
    """Run an agent in the async runner."""

    async def go() -> Answer:
        async with AsyncRunner(URL, "k", wire=wire) as runner:
            return await runner.run(agent, **more)

    return asyncio.run(go())


def replies(*bodies: Json | bytes, url: str = CHAT) -> respx.Route:
    """A provider that answers with these, one after the other: events where a body is bytes."""
    return respx.post(url).mock(
        side_effect=[
            httpx.Response(200, headers=EVENT_STREAM, content=body)
            if isinstance(body, bytes)
            else httpx.Response(200, json=body)
            for body in bodies
        ]
    )


class Body(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body of which each piece runs some code before it comes; an exception among the pieces breaks it."""

    def __init__(self, *parts: bytes | Exception | Callable[[], None]) -> None:
        self.parts = parts

    def __iter__(self) -> Iterator[bytes]:
        for part in self.parts:
            if isinstance(part, Exception):
                raise part
            if isinstance(part, bytes):
                yield part
            else:
                part()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for part in self:
            yield part
