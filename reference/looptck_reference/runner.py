"""Runners: they do what the loop says, and wait. One for sync callers, one for async callers.

Neither retries a model call: whether a request may be repeated, and at what price, is the caller's to know.

`run` runs an agent. `drive` runs a loop that the caller made, which may be of a subclass, and whose `end` says
afterwards why it ended. `pieces` does so at the caller's pace: it goes on when the caller asks for more text.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, closing
from contextvars import copy_context
from typing import TYPE_CHECKING, Self

import httpx

from looptck_reference.actions import Action, Ask, End, Fail, Finish, Raised, Returned, Run, RunAll
from looptck_reference.dialects import CORE, Dialect
from looptck_reference.errors import AsyncToolInSyncRun, StreamBroken
from looptck_reference.exchange import Endpoint, Exchange, tls_for
from looptck_reference.loop import Loop
from looptck_reference.spans import RunSpans, Tracing, answered, failed
from looptck_reference.values import Turn
from looptck_reference.wires import OPENAI_CHAT, Wire

if TYPE_CHECKING:
    from looptck_reference.agent import Agent
    from looptck_reference.values import Answer

__all__ = ["AsyncRunner", "Runner"]

OnText = Callable[[str], object]

TIMEOUT = httpx.Timeout(600.0, connect=10.0)


def nowhere(_text: str) -> None:
    """Where streamed text goes if the caller does not want it."""


class Runner:
    """Runs agents for synchronous callers. A client that was passed in stays the caller's to close."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        wire: Wire = OPENAI_CHAT,
        client: httpx.Client | None = None,
        tracing: Tracing | None = None,
    ) -> None:
        self._owns_client = client is None
        self._client = client or httpx.Client(verify=tls_for(base_url), timeout=TIMEOUT)
        self._endpoint = Endpoint(self._client, base_url, api_key, wire)
        self._tracing = tracing or Tracing()

    def __enter__(self) -> Self:
        """Nothing to do: clients connect when they must."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close what this runner opened."""
        self.close()

    def close(self) -> None:
        """Close what this runner opened."""
        if self._owns_client:
            self._client.close()

    def run(
        self,
        agent: Agent,
        *,
        dialect: Dialect = CORE,
        limit: int | None = None,
        stream: bool = False,
        on_text: OnText = nowhere,
    ) -> Answer:
        """Run an agent to its answer; `on_text` gets the text of streams when it arrives."""
        loop = Loop(agent, wire=self._endpoint.wire, dialect=dialect, limit=limit)
        return self.drive(loop, stream=stream, on_text=on_text)

    def drive(self, loop: Loop, *, stream: bool = False, on_text: OnText = nowhere) -> Answer:
        """Run a loop to its answer."""
        with closing(self.pieces(loop, stream=stream)) as pieces:
            for text in pieces:
                on_text(text)
        return loop.answer

    def pieces(self, loop: Loop, *, stream: bool = False) -> Generator[str]:
        """Run a loop and yield the text of streams when it arrives; at the end the loop has its answer."""
        exchange = Exchange(self._endpoint, loop, stream=stream)
        with self._tracing.run(loop) as spans:
            action = loop.start()
            while True:
                match action:
                    case Ask():
                        with spans.model_call() as span, closing(self._ask(exchange, action)) as asked:
                            turn = Turn()
                            for piece in asked:
                                if isinstance(piece, str):
                                    yield piece
                                else:
                                    turn = piece
                            answered(span, turn)
                        action = loop.model_answered(turn)
                    case Run():
                        action = self._run(loop, action, spans)
                    case RunAll(runs):
                        action = loop.tools_ended(self._run_all(runs, spans))
                    case Finish():
                        return
                    case Fail(error):
                        raise error
                spans.not_run()

    def _ask(self, exchange: Exchange, ask: Ask) -> Generator[str | Turn]:
        """The text that goes to the caller now, and then the turn."""
        with self._endpoint.reached():
            response = self._client.send(exchange.request(ask), stream=exchange.stream)
        with closing(response):
            if exchange.comes_in_events(response):
                yield from self._receive(exchange, response)
                return
            with self._endpoint.reached():
                response.read()
        turn = exchange.turn(response)
        if text := exchange.whole_text(turn):
            yield text
        yield turn

    def _receive(self, exchange: Exchange, response: httpx.Response) -> Generator[str | Turn]:
        reception = exchange.reception()
        try:
            for piece in self._bytes(response):
                yield from reception.feed(piece)
        except StreamBroken:
            if not reception.complete:
                raise
        yield reception.close()

    def _bytes(self, response: httpx.Response) -> Iterator[bytes]:
        with self._endpoint.reached(StreamBroken):
            yield from response.iter_bytes()

    def _run(self, loop: Loop, run: Run, spans: RunSpans) -> Action:
        end = self._end(run, spans)
        return loop.tool_raised(end.error) if isinstance(end, Raised) else loop.tool_returned(end.value)

    def _run_all(self, runs: Sequence[Run], spans: RunSpans) -> list[End]:
        """Each in a thread of its own, which knows what the caller's context knows."""
        with ThreadPoolExecutor(len(runs), "looptck tool") as threads:
            ends = [threads.submit(copy_context().run, self._end, run, spans) for run in runs]
        return [end.result() for end in ends]

    def _end(self, run: Run, spans: RunSpans) -> End:
        with spans.tool_call(run.call) as span:
            try:
                value = run.handler(**run.arguments)
            except Exception as error:  # noqa: BLE001 - whatever a tool raises is the dialect's to judge
                failed(span, error)
                return Raised(error)
        if inspect.isawaitable(value):
            if inspect.iscoroutine(value):
                value.close()
            raise AsyncToolInSyncRun(f"the handler of tool {run.call.name!r} is asynchronous; use AsyncRunner")
        return Returned(value)


class AsyncRunner:
    """Runs agents for asynchronous callers. Handlers may be plain functions; those hold up the event loop."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        wire: Wire = OPENAI_CHAT,
        client: httpx.AsyncClient | None = None,
        tracing: Tracing | None = None,
    ) -> None:
        self._owns_client = client is None
        self._client = client or httpx.AsyncClient(verify=tls_for(base_url), timeout=TIMEOUT)
        self._endpoint = Endpoint(self._client, base_url, api_key, wire)
        self._tracing = tracing or Tracing()

    async def __aenter__(self) -> Self:
        """Nothing to do: clients connect when they must."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close what this runner opened."""
        await self.aclose()

    async def aclose(self) -> None:
        """Close what this runner opened."""
        if self._owns_client:
            await self._client.aclose()

    async def run(
        self,
        agent: Agent,
        *,
        dialect: Dialect = CORE,
        limit: int | None = None,
        stream: bool = False,
        on_text: OnText = nowhere,
    ) -> Answer:
        """Run an agent to its answer; `on_text` gets the text of streams when it arrives."""
        loop = Loop(agent, wire=self._endpoint.wire, dialect=dialect, limit=limit)
        return await self.drive(loop, stream=stream, on_text=on_text)

    async def drive(self, loop: Loop, *, stream: bool = False, on_text: OnText = nowhere) -> Answer:
        """Run a loop to its answer."""
        async with aclosing(self.pieces(loop, stream=stream)) as pieces:
            async for text in pieces:
                on_text(text)
        return loop.answer

    async def pieces(self, loop: Loop, *, stream: bool = False) -> AsyncGenerator[str]:
        """Run a loop and yield the text of streams when it arrives; at the end the loop has its answer."""
        exchange = Exchange(self._endpoint, loop, stream=stream)
        with self._tracing.run(loop) as spans:
            action = loop.start()
            while True:
                match action:
                    case Ask():
                        with spans.model_call() as span:
                            turn = Turn()
                            async with aclosing(self._ask(exchange, action)) as asked:
                                async for piece in asked:
                                    if isinstance(piece, str):
                                        yield piece
                                    else:
                                        turn = piece
                            answered(span, turn)
                        action = loop.model_answered(turn)
                    case Run():
                        action = await self._run(loop, action, spans)
                    case RunAll(runs):
                        action = loop.tools_ended(await asyncio.gather(*(self._end(run, spans) for run in runs)))
                    case Finish():
                        return
                    case Fail(error):
                        raise error
                spans.not_run()

    async def _ask(self, exchange: Exchange, ask: Ask) -> AsyncGenerator[str | Turn]:
        """The text that goes to the caller now, and then the turn."""
        with self._endpoint.reached():
            response = await self._client.send(exchange.request(ask), stream=exchange.stream)
        async with aclosing(response):
            if exchange.comes_in_events(response):
                async with aclosing(self._receive(exchange, response)) as received:
                    async for piece in received:
                        yield piece
                return
            with self._endpoint.reached():
                await response.aread()
        turn = exchange.turn(response)
        if text := exchange.whole_text(turn):
            yield text
        yield turn

    async def _receive(self, exchange: Exchange, response: httpx.Response) -> AsyncGenerator[str | Turn]:
        reception = exchange.reception()
        try:
            async with aclosing(self._bytes(response)) as pieces:
                async for piece in pieces:
                    for text in reception.feed(piece):
                        yield text
        except StreamBroken:
            if not reception.complete:
                raise
        yield reception.close()

    async def _bytes(self, response: httpx.Response) -> AsyncGenerator[bytes]:
        with self._endpoint.reached(StreamBroken):
            async for piece in response.aiter_bytes():
                yield piece

    async def _run(self, loop: Loop, run: Run, spans: RunSpans) -> Action:
        end = await self._end(run, spans)
        return loop.tool_raised(end.error) if isinstance(end, Raised) else loop.tool_returned(end.value)

    async def _end(self, run: Run, spans: RunSpans) -> End:
        with spans.tool_call(run.call) as span:
            try:
                value = run.handler(**run.arguments)
                if inspect.isawaitable(value):
                    value = await value
            except Exception as error:  # noqa: BLE001 - whatever a tool raises is the dialect's to judge
                failed(span, error)
                return Raised(error)
        return Returned(value)
