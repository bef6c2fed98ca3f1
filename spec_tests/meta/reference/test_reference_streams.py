"""Streams of prompts: the tools have run when the caller gets one, and its text comes at the caller's pace."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import httpx
import pytest
import respx

from looptck_reference import PromptyStream, StreamBroken, invoke_agent, invoke_agent_async
from meta.reference.reference_files import write
from meta.reference.reference_provider import replies
from meta.reference.reference_replies import CHAT, EVENT_STREAM, TEXT_STREAM, TOOL_STREAM, delta, sse


def noting(ran: list[str]) -> dict[str, Callable[..., str]]:
    """A tool that notes what it was called with."""

    def weather(city: str) -> str:
        ran.append(city)
        return "sunny"

    return {"weather": weather}


class Slow(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A stream that notes how far it was read, and whether it was closed."""

    def __init__(self, *events: bytes) -> None:
        self.events = events
        self.read = 0
        self.closed = False

    def __iter__(self) -> Iterator[bytes]:
        for event in self.events:
            self.read += 1
            yield event

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for event in self:
            yield event

    def close(self) -> None:
        self.closed = True

    async def aclose(self) -> None:
        self.close()


def slow(*texts: str) -> Slow:
    """A slow answer."""
    return Slow(*(sse(delta(text), done=False) for text in texts), sse(delta(finish="stop")))


@respx.mock
def test_the_tools_have_run_when_the_caller_gets_the_stream(tmp_path: Path) -> None:
    """What is left is the text, piece by piece; then the whole answer is there."""
    ran: list[str] = []
    replies(TOOL_STREAM, TEXT_STREAM)

    stream = invoke_agent(write(tmp_path, stream=True), {}, noting(ran))

    assert isinstance(stream, PromptyStream)
    assert ["Paris"] == ran
    assert ["18 ", "°C"] == list(stream)
    assert "18 °C" == stream.answer.text


@respx.mock
def test_the_same_for_async_callers(tmp_path: Path) -> None:
    """Sync and async share all but the waiting."""
    ran: list[str] = []
    replies(TOOL_STREAM, TEXT_STREAM)

    async def read() -> tuple[list[str], list[str], str]:
        stream = await invoke_agent_async(write(tmp_path, stream=True), {}, noting(ran))
        before = list(ran)
        pieces = [piece async for piece in stream]
        return before, pieces, stream.answer.text

    assert (["Paris"], ["18 ", "°C"], "18 °C") == asyncio.run(read())


@respx.mock
def test_no_more_is_read_than_the_caller_wants(tmp_path: Path) -> None:
    """A piece is handed on before the next is there; a caller who has had enough lets go of the connection."""
    reply = slow("one", "two", "three")
    respx.post(CHAT).mock(return_value=httpx.Response(200, headers=EVENT_STREAM, stream=reply))

    with invoke_agent(write(tmp_path, stream=True)) as stream:
        seen = [(next(stream), reply.read), (next(stream), reply.read)]

    assert [("one", 1), ("two", 2)] == seen
    assert (2, True) == (reply.read, reply.closed)
    assert [] == list(stream)


@respx.mock
def test_an_async_caller_lets_go_of_the_connection_too(tmp_path: Path) -> None:
    """Once it has had enough."""
    reply = slow("one", "two", "three")
    respx.post(CHAT).mock(return_value=httpx.Response(200, headers=EVENT_STREAM, stream=reply))

    async def read() -> tuple[str, bool, list[str]]:
        async with await invoke_agent_async(write(tmp_path, stream=True)) as stream:
            first = await anext(stream)
        return first, reply.closed, [piece async for piece in stream]

    assert ("one", True, []) == asyncio.run(read())


@respx.mock
def test_an_answer_without_text_is_an_empty_stream(tmp_path: Path) -> None:
    """It ends at once, and the answer is there."""
    replies(sse(delta(finish="stop")))

    stream = invoke_agent(write(tmp_path, stream=True))

    assert ([], "") == (list(stream), stream.answer.text)


@respx.mock
def test_a_stream_that_breaks_raises_where_it_is_read(tmp_path: Path) -> None:
    """What came before it has come; after the error there is nothing more."""
    replies(sse(delta("half"), done=False))

    stream = invoke_agent(write(tmp_path, stream=True))

    assert "half" == next(stream)
    with pytest.raises(StreamBroken):
        next(stream)
    assert [] == list(stream)


@respx.mock
def test_a_fault_before_the_answer_raises_at_once(tmp_path: Path) -> None:
    """There is no stream to be had, for either kind of caller."""
    path = write(tmp_path, stream=True)
    replies(TOOL_STREAM, TOOL_STREAM)

    with pytest.raises(ValueError, match="No handler registered"):
        invoke_agent(path)
    with pytest.raises(ValueError, match="No handler registered"):
        asyncio.run(invoke_agent_async(path))
