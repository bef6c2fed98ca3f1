"""The runners: the same behaviour for sync and async callers."""

from __future__ import annotations

import asyncio

import httpx
import pytest
import respx

from looptck_reference import Agent, AsyncRunner, AsyncToolInSyncRun, Runner, Tool
from meta.reference.reference_provider import replies, run_sync
from meta.reference.reference_replies import (
    QUESTION,
    URL,
    call,
    plain,
)


@respx.mock
def test_an_async_tool_needs_the_async_runner() -> None:
    """The sync runner says so, rather than telling the model about a coroutine."""

    async def weather(city: str) -> str:
        return city

    replies(plain(None, call()))

    with pytest.raises(AsyncToolInSyncRun, match="use AsyncRunner"):
        run_sync(Agent("m", [QUESTION], [Tool("weather", handler=weather)]))


@respx.mock
def test_a_client_of_the_caller_is_used_and_left_open() -> None:
    """Its headers go along, and closing it is the caller's."""
    route = replies(plain("x"))
    with httpx.Client(headers={"x-team": "weather"}) as client:
        with Runner(URL, "k", client=client) as runner:
            runner.run(Agent("m", [QUESTION]))

        assert "weather" == route.calls.last.request.headers["x-team"]
        assert not client.is_closed


@respx.mock
def test_an_async_client_of_the_caller_is_used_and_left_open() -> None:
    """As a sync one is."""
    route = replies(plain("x"))

    async def go() -> bool:
        async with httpx.AsyncClient(headers={"x-team": "weather"}) as client:
            async with AsyncRunner(URL, "k", client=client) as runner:
                await runner.run(Agent("m", [QUESTION]))
            return client.is_closed

    assert not asyncio.run(go())
    assert "weather" == route.calls.last.request.headers["x-team"]


def test_a_client_of_the_runners_is_closed() -> None:
    """Whoever opened it closes it."""

    async def go() -> bool:
        async with AsyncRunner(URL, "k") as runner:
            pass
        return runner._client.is_closed

    with Runner(URL, "k") as runner:
        pass

    assert (True, True) == (runner._client.is_closed, asyncio.run(go()))
