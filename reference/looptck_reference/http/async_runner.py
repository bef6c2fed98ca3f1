"""The runner for asynchronous callers; `runner` says what both are for."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, closing
from typing import TYPE_CHECKING, Any, ClassVar, Self

import httpx

from looptck_reference.http.endpoint import Endpoint
from looptck_reference.http.exchange import Exchange, Read, Send
from looptck_reference.http.line import AsyncLine
from looptck_reference.http.spans import RunSpans, Tracing, failed
from looptck_reference.http.stepping import TIMEOUT, AsyncConfirm, OnNews, OnText, next_step, nowhere, telling
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.actions import Decide, End, Raised, Returned, Run, RunTools
from looptck_reference.vocabulary.approval import Decision, Pending
from looptck_reference.vocabulary.dialects import CORE, Dialect
from looptck_reference.vocabulary.news import Called, Over, Resulted, Written
from looptck_reference.wires import OPENAI_CHAT, Wire

if TYPE_CHECKING:
    from looptck_reference.vocabulary.agent import Agent
    from looptck_reference.vocabulary.values import Answer

__all__ = ["AsyncRunner"]


class AsyncRunner:
    """Runs agents for asynchronous callers. Handlers may be plain functions, which block the event loop."""

    line: ClassVar[type[AsyncLine]] = AsyncLine

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        wire: Wire = OPENAI_CHAT,
        client: httpx.AsyncClient | None = None,
        tracing: Tracing | None = None,
        exchange: type[Exchange] = Exchange,
        confirm: AsyncConfirm | None = None,
    ) -> None:
        self._owns_client = client is None
        self._client = client or httpx.AsyncClient(timeout=TIMEOUT)
        self._endpoint = Endpoint(self._client, base_url, api_key, wire)
        self._tracing = tracing or Tracing()
        self._exchange = exchange
        self._confirm = confirm

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
        on_news: OnNews = nowhere,
    ) -> Answer:
        """Run an agent to its answer; `on_text` gets streamed text when it arrives, `on_news` calls and results."""
        loop = Loop(agent, wire=self._endpoint.wire, dialect=dialect, limit=limit)
        return await self.drive(loop, stream=stream, on_text=on_text, on_news=on_news)

    async def drive(
        self, loop: Loop, *, stream: bool = False, on_text: OnText = nowhere, on_news: OnNews = nowhere
    ) -> Answer:
        """Run a loop to its answer."""
        async with aclosing(self.pieces(loop, stream=stream, on_news=on_news)) as pieces:
            async for text in pieces:
                on_text(text)
        return loop.answer

    async def pieces(self, loop: Loop, *, stream: bool = False, on_news: OnNews = nowhere) -> AsyncGenerator[str]:
        """Run a loop and yield streamed text when it arrives; at the end the loop has its answer.

        The run is cancelled by cancelling the task.
        """
        ends: list[End | None] = []
        async with aclosing(self.line(self._client)) as line:
            with (
                self._tracing.run(loop) as spans,
                closing(self._exchange(loop, self._endpoint, spans, stream=stream).steps()) as steps,
                telling(loop, ends, on_news),
            ):
                came: Any = None
                step = next_step(steps, came)
                while step is not None:
                    match step:
                        case str():
                            came = yield step
                        case Written() | Called() | Resulted() | Over():
                            came = on_news(step)
                        case RunTools(runs):
                            came = await self._ends(runs, spans, ends)
                        case Decide(calls):
                            came = await self._decisions(calls)
                        case Send() | Read():
                            came = await line.do(step)
                    step = next_step(steps, came)

    async def _ends(self, runs: Sequence[Run], spans: RunSpans, ends: list[End | None]) -> list[End | None]:
        """The ends of a batch of tools, each noted when it comes; several run at the same time.

        A tool may have caught the cancellation that was meant for the run.
        """
        ends[:] = [None] * len(runs)
        before = _cancellations()

        async def note(place: int, run: Run) -> None:
            ends[place] = await self._end(run, spans)

        if len(runs) == 1:
            await note(0, runs[0])
        else:
            await asyncio.gather(*(note(place, run) for place, run in enumerate(runs)))
        if _cancellations() > before:
            raise asyncio.CancelledError
        return ends

    async def _decisions(self, calls: Sequence[Pending]) -> dict[str, Decision] | None:
        """A decision about each call, or None if there is nobody to ask."""
        if self._confirm is None:
            return None
        return {call.id: await self._confirm(call) for call in calls}

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


def _cancellations() -> int:
    """How often the current task was asked to cancel itself."""
    task = asyncio.current_task()
    return 0 if task is None else task.cancelling()
