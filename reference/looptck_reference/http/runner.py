"""Runners: they execute the steps of an exchange and wait. This one is for sync callers, `async_runner` has the other.

`run` runs an agent. `drive` runs a loop that the caller made, possibly of a subclass; its `end` then holds the reason
why it ended, and its `conversation` what was said. `pieces` runs such a loop at the caller's pace: it goes on when the
caller asks for more text. Whoever closes it earlier cancels the run.

    loop = Loop(agent, wire=OPENAI_CHAT, conversation=before, messages=[question])
    try:
        answer = runner.drive(loop)
    finally:
        after = loop.conversation

Calls that need approval are put to `confirm`, one after the other, in call order; without it the run is suspended.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import httpx

from looptck_reference.http.cancellation import Cancellation
from looptck_reference.http.endpoint import Endpoint
from looptck_reference.http.exchange import Exchange, Read, Send
from looptck_reference.http.line import Line
from looptck_reference.http.spans import RunSpans, Tracing, failed
from looptck_reference.http.stepping import TIMEOUT, Confirm, OnNews, OnText, next_step, nowhere, telling
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.actions import Decide, End, Raised, Returned, Run, RunTools
from looptck_reference.vocabulary.approval import Decision, Pending
from looptck_reference.vocabulary.dialects import CORE, Dialect
from looptck_reference.vocabulary.errors import AsyncToolInSyncRun, Cancelled
from looptck_reference.vocabulary.news import Called, Over, Resulted, Written
from looptck_reference.wires import OPENAI_CHAT, Wire

if TYPE_CHECKING:
    from looptck_reference.vocabulary.agent import Agent
    from looptck_reference.vocabulary.values import Answer

__all__ = ["Runner"]

Result = TypeVar("Result")


class Runner:
    """Runs agents for synchronous callers. The caller closes a client that it passed in.

    A run that may be cancelled needs a runner of its own, whose client no other run uses, because all connections of
    that client are shut down. Its tools run in threads. A tool cannot be stopped: a cancelled run does not wait for it,
    and its thread ends by itself.
    """

    line: ClassVar[type[Line]] = Line

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        wire: Wire = OPENAI_CHAT,
        client: httpx.Client | None = None,
        tracing: Tracing | None = None,
        exchange: type[Exchange] = Exchange,
        confirm: Confirm | None = None,
        cancellation: Cancellation | None = None,
    ) -> None:
        self._owns_client = client is None
        self._client = client or httpx.Client(timeout=TIMEOUT)
        self._endpoint = Endpoint(self._client, base_url, api_key, wire)
        self._tracing = tracing or Tracing()
        self._exchange = exchange
        self._confirm = confirm
        self._cancellation = cancellation

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
        on_news: OnNews = nowhere,
    ) -> Answer:
        """Run an agent to its answer; `on_text` gets streamed text when it arrives, `on_news` calls and results."""
        loop = Loop(agent, wire=self._endpoint.wire, dialect=dialect, limit=limit)
        return self.drive(loop, stream=stream, on_text=on_text, on_news=on_news)

    def drive(
        self, loop: Loop, *, stream: bool = False, on_text: OnText = nowhere, on_news: OnNews = nowhere
    ) -> Answer:
        """Run a loop to its answer."""
        with closing(self.pieces(loop, stream=stream, on_news=on_news)) as pieces:
            for text in pieces:
                on_text(text)
        return loop.answer

    def pieces(self, loop: Loop, *, stream: bool = False, on_news: OnNews = nowhere) -> Generator[str]:
        """Run a loop and yield streamed text when it arrives; at the end the loop has its answer.

        Raises:
            Cancelled: the run was cancelled.
        """
        trace = None if self._cancellation is None else self._cancellation.trace
        ends: list[End | None] = []
        with (
            self._tracing.run(loop) as spans,
            closing(self.line(self._client, trace)) as line,
            closing(self._exchange(loop, self._endpoint, spans, stream=stream).steps()) as steps,
            telling(loop, ends, on_news),
        ):
            came: Any = None
            step = next_step(steps, came)
            while step is not None:
                self.go_on()
                match step:
                    case str():
                        came = yield step
                    case Written() | Called() | Resulted() | Over():
                        came = on_news(step)
                    case RunTools(runs):
                        came = ends[:] = self._ends(runs, spans)
                    case Decide(calls):
                        came = self._decisions(calls)
                    case Send() | Read():
                        came = line.do(step)
                self.go_on()
                step = next_step(steps, came)

    def go_on(self) -> None:
        """Before and after each step: the run goes on unless it is cancelled.

        Raises:
            Cancelled: it is.
        """
        if self._cancellation:
            raise Cancelled("the run was cancelled by its caller")

    def _ends(self, runs: Sequence[Run], spans: RunSpans) -> list[End | None]:
        """The ends of a batch of tools."""
        return self._all([partial(self._end, run, spans) for run in runs])

    def _all(self, works: Sequence[Callable[[], Result]]) -> list[Result | None]:
        """The results of functions, run at the same time in copies of the caller's context; None if cancelled before.

        One alone that need not be left runs in the caller's thread.
        """
        if self._cancellation is not None:
            results = self._cancellation.results(works)
            return [result.result() if result.done() else None for result in results]
        if len(works) == 1:
            return [works[0]()]
        with ThreadPoolExecutor(len(works), "looptck tool") as threads:
            results = [threads.submit(copy_context().run, work) for work in works]
        return [result.result() for result in results]

    def _decisions(self, calls: Sequence[Pending]) -> dict[str, Decision | None] | None:
        """A decision about each call, or None if there is nobody to ask."""
        if self._confirm is None:
            return None
        made: dict[str, Decision | None] = {}
        for call in calls:
            self.go_on()
            [made[call.id]] = self._all([partial(self._confirm, call)])
        return made

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
