"""Runners: they execute the steps of a conversation and wait. One is for sync callers, one for async callers.

`run` runs an agent. `drive` runs a loop that the caller made, possibly of a subclass; its `end` then holds the reason
why it ended. `pieces` runs such a loop at the caller's pace: it goes on when the caller asks for more text.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, closing
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, Self

import httpx

from looptck_reference.http.conversation import Conversation, Read, Send, Step
from looptck_reference.http.endpoint import Endpoint
from looptck_reference.http.line import AsyncLine, Line
from looptck_reference.http.spans import RunSpans, Tracing, failed
from looptck_reference.loop.actions import End, Raised, Returned, Run, RunTools
from looptck_reference.loop.dialects import CORE, Dialect
from looptck_reference.loop.errors import AsyncToolInSyncRun
from looptck_reference.loop.loop import Loop
from looptck_reference.wires import OPENAI_CHAT, Wire

if TYPE_CHECKING:
    from looptck_reference.loop.agent import Agent
    from looptck_reference.loop.values import Answer

__all__ = ["AsyncRunner", "Runner"]

OnText = Callable[[str], object]

TIMEOUT = httpx.Timeout(600.0, connect=10.0)


def nowhere(_text: str) -> None:
    """Discard streamed text that the caller does not want."""


def _next(steps: Generator[Step, Any, None], came: Any) -> Step | None:
    """The step after the one with this result; None if the run is over."""
    try:
        return steps.throw(came) if isinstance(came, httpx.HTTPError) else steps.send(came)
    except StopIteration:
        return None


class Runner:
    """Runs agents for synchronous callers. The caller closes a client that it passed in."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        wire: Wire = OPENAI_CHAT,
        client: httpx.Client | None = None,
        tracing: Tracing | None = None,
        conversation: type[Conversation] = Conversation,
    ) -> None:
        self._owns_client = client is None
        self._client = client or httpx.Client(timeout=TIMEOUT)
        self._endpoint = Endpoint(self._client, base_url, api_key, wire)
        self._tracing = tracing or Tracing()
        self._conversation = conversation

    def __enter__(self) -> Self:
        """Nothing to do: clients connect on first use."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the client that this runner opened."""
        self.close()

    def close(self) -> None:
        """Close the client that this runner opened."""
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
        """Run an agent to its answer; `on_text` gets streamed text when it arrives."""
        loop = Loop(agent, wire=self._endpoint.wire, dialect=dialect, limit=limit)
        return self.drive(loop, stream=stream, on_text=on_text)

    def drive(self, loop: Loop, *, stream: bool = False, on_text: OnText = nowhere) -> Answer:
        """Run a loop to its answer."""
        with closing(self.pieces(loop, stream=stream)) as pieces:
            for text in pieces:
                on_text(text)
        return loop.answer

    def pieces(self, loop: Loop, *, stream: bool = False) -> Generator[str]:
        """Run a loop and yield streamed text when it arrives; at the end the loop has its answer."""
        with (
            self._tracing.run(loop) as spans,
            closing(Line(self._client)) as line,
            closing(self._conversation(loop, self._endpoint, spans, stream=stream).steps()) as steps,
        ):
            came: Any = None
            step = _next(steps, came)
            while step is not None:
                match step:
                    case str():
                        came = yield step
                    case RunTools(runs):
                        came = self._ends(runs, spans)
                    case Send() | Read():
                        came = line.do(step)
                step = _next(steps, came)

    def _ends(self, runs: Sequence[Run], spans: RunSpans) -> list[End]:
        """The ends of a batch of tools. If there are several, each has a thread with a copy of the caller's context."""
        if len(runs) == 1:
            return [self._end(runs[0], spans)]
        with ThreadPoolExecutor(len(runs), "looptck tool") as threads:
            ends = [threads.submit(copy_context().run, self._end, run, spans) for run in runs]
        return [end.result() for end in ends]

    def _end(self, run: Run, spans: RunSpans) -> End:
        with spans.tool_call(run.call) as span:
            try:
                value = run.handler(**run.arguments)
            except Exception as error:  # noqa: BLE001 - the dialect decides about any error of a tool
                failed(span, error)
                return Raised(error)
        if inspect.isawaitable(value):
            if inspect.iscoroutine(value):
                value.close()
            raise AsyncToolInSyncRun(f"the handler of tool {run.call.name!r} is asynchronous; use AsyncRunner")
        return Returned(value)


class AsyncRunner:
    """Runs agents for asynchronous callers. Handlers may be plain functions, which block the event loop."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        wire: Wire = OPENAI_CHAT,
        client: httpx.AsyncClient | None = None,
        tracing: Tracing | None = None,
        conversation: type[Conversation] = Conversation,
    ) -> None:
        self._owns_client = client is None
        self._client = client or httpx.AsyncClient(timeout=TIMEOUT)
        self._endpoint = Endpoint(self._client, base_url, api_key, wire)
        self._tracing = tracing or Tracing()
        self._conversation = conversation

    async def __aenter__(self) -> Self:
        """Nothing to do: clients connect on first use."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the client that this runner opened."""
        await self.aclose()

    async def aclose(self) -> None:
        """Close the client that this runner opened."""
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
        """Run an agent to its answer; `on_text` gets streamed text when it arrives."""
        loop = Loop(agent, wire=self._endpoint.wire, dialect=dialect, limit=limit)
        return await self.drive(loop, stream=stream, on_text=on_text)

    async def drive(self, loop: Loop, *, stream: bool = False, on_text: OnText = nowhere) -> Answer:
        """Run a loop to its answer."""
        async with aclosing(self.pieces(loop, stream=stream)) as pieces:
            async for text in pieces:
                on_text(text)
        return loop.answer

    async def pieces(self, loop: Loop, *, stream: bool = False) -> AsyncGenerator[str]:
        """Run a loop and yield streamed text when it arrives; at the end the loop has its answer."""
        async with aclosing(AsyncLine(self._client)) as line:
            with (
                self._tracing.run(loop) as spans,
                closing(self._conversation(loop, self._endpoint, spans, stream=stream).steps()) as steps,
            ):
                came: Any = None
                step = _next(steps, came)
                while step is not None:
                    match step:
                        case str():
                            came = yield step
                        case RunTools(runs):
                            came = await self._ends(runs, spans)
                        case Send() | Read():
                            came = await line.do(step)
                    step = _next(steps, came)

    async def _ends(self, runs: Sequence[Run], spans: RunSpans) -> list[End]:
        """The ends of a batch of tools; several run at the same time."""
        if len(runs) == 1:
            return [await self._end(runs[0], spans)]
        return await asyncio.gather(*(self._end(run, spans) for run in runs))

    async def _end(self, run: Run, spans: RunSpans) -> End:
        with spans.tool_call(run.call) as span:
            try:
                value = run.handler(**run.arguments)
                if inspect.isawaitable(value):
                    value = await value
            except Exception as error:  # noqa: BLE001 - the dialect decides about any error of a tool
                failed(span, error)
                return Raised(error)
        return Returned(value)
