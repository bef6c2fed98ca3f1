"""The outer loop: Requests, one after the other, until a Solution has an output (Agent/Loop, revision 2025-12).

One task, the caller's, owns all state. It takes events from one queue, in the order in which they happen, and reports
them to the turn's `CallScheduler`. The steps that the scheduler returns, and the Request itself, run as tasks of their
own that communicate only through that queue. So no state is touched by two tasks, results enter the context in the
order in which Activities complete, and no task outlives its turn.

A variant overrides a method here, or replaces the class of a part.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any, ClassVar, NoReturn

from looptck_reference.agent_loop_010.calls import Call
from looptck_reference.agent_loop_010.confirmation import Confirmation, Decision
from looptck_reference.agent_loop_010.context import Context
from looptck_reference.agent_loop_010.messages import Message
from looptck_reference.agent_loop_010.prompt import Prompt
from looptck_reference.agent_loop_010.requests import Request
from looptck_reference.agent_loop_010.scheduler import CallScheduler, Confirm, Start, Step
from looptck_reference.agent_loop_010.solution import Reader, Solution, Unreadable
from looptck_reference.agent_loop_010.structure import Structure
from looptck_reference.vocabulary.tools import Tool
from looptck_reference.vocabulary.values import Json

__all__ = ["SolutionLoop"]

LIMIT = 10

Event = Callable[[], Sequence[Step]]
"""An event: when called, it reports itself to the scheduler, or raises the error that ends the run."""

Events = asyncio.Queue[Event]


class SolutionLoop:
    """One run: from the first Request with the caller's messages to an output.

    `request` asks the model. A tool's handler, called with the arguments as keywords, is the Activity of that name; a
    tool without a handler is latent. `confirmation`, if given, is asked about each call before it is executed.
    `output_schema` is the JSON Schema of the output, and `limit` the maximum number of Requests, 10 if it is None.
    """

    tick: ClassVar[type[CallScheduler]] = CallScheduler
    reader: ClassVar[type[Reader]] = Reader
    context: ClassVar[type[Context]] = Context
    structure: ClassVar[type[Structure]] = Structure
    prompt: ClassVar[type[Prompt]] = Prompt

    def __init__(
        self,
        request: Request,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        output_schema: Json,
        *,
        confirmation: Confirmation | None = None,
        limit: int | None = None,
    ) -> None:
        self.request = request
        self.confirmation = confirmation
        self.limit = LIMIT if limit is None else limit
        self.turns = 0
        self.lazy = False
        self.activities = {tool.name: tool.handler for tool in tools if tool.handler is not None}
        self._prompt = self.prompt(tools, output_schema)
        self._context = self.context(messages)
        self._structure = self.structure({tool.name: tool.parameters for tool in tools})

    async def run(self) -> Any | None:
        """The output of the first Solution whose output is not null; None if the limit is reached before.

        Raises:
            LoopError: the provider failed; all running tasks have been cancelled and have ended.
            Exception: the confirmation's error. Errors of Activities are reported to the model instead.
        """
        while not self.limit_reached():
            self.turns += 1
            self.lazy = self.is_lazy()
            tick = self.tick(self._context, self._structure, self.activities, confirms=self.confirmation is not None)
            solution = await self.turn(tick)
            if isinstance(solution, Unreadable):
                tick.fail(None, solution.reason)
            self.append_errors(tick)
            if isinstance(solution, Solution):
                if self.lazy:
                    return solution.document
                if self.is_final(solution):
                    return solution.output
                self.carry_plan(solution)
        return None

    async def turn(self, tick: CallScheduler) -> Solution | Unreadable:
        """One Request, and the calls of its Solution until none of them is left."""
        events: Events = asyncio.Queue()
        reading = asyncio.create_task(self._read(tick, events))
        tasks: list[asyncio.Task[Any]] = [reading]
        try:
            while not self.is_over(tick):
                event = await events.get()
                tasks += [asyncio.create_task(self._do(step, tick, events)) for step in event()]
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return reading.result()

    # Seams

    def limit_reached(self) -> bool:
        """Asked before each Request. The document has no limit; the limit and its number are the reference's own."""
        return self.turns >= self.limit

    def is_over(self, tick: CallScheduler) -> bool:
        """Whether a turn is over: the Request has ended and no call is left."""
        return tick.drained

    def is_final(self, solution: Solution) -> bool:
        """Whether a Solution ends the run: its output is not null, though it may be falsy; its calls do not matter."""
        return solution.output is not None

    def append_errors(self, tick: CallScheduler) -> None:
        """Append the Error Messages of a turn after all of its results, for the next Request."""
        for error in tick.errors:
            self._context.append(error)

    def is_lazy(self) -> bool:
        """Whether the plan is only to be made (Agent/Plan): the first Solution is then the result, unexecuted."""
        plan = self._plan()
        return plan is not None and self._context.messages[plan].get("mode") == "lazy"

    def carry_plan(self, solution: Solution) -> None:
        """If the context has a plan, the calls of this turn become the next turn's plan (Agent/Plan)."""
        plan = self._plan()
        if plan is not None:
            self._context.messages[plan] = {**self._context.messages[plan], "plan": solution.calls}

    def ask(self) -> AsyncGenerator[str]:
        """Start a Request with the current context."""
        return self.request(self._prompt.messages(self._context.messages), self._prompt.schema())

    def request_ended(self, tick: CallScheduler, solution: Solution | Unreadable) -> Sequence[Step]:
        """Report the end of the Request, with its Solution; returns the next steps."""
        return tick.closed()

    async def dispatch(self, start: Start) -> Any:
        """Run an Activity."""
        value = self.activities[start.activity](**start.arguments)
        return await value if inspect.isawaitable(value) else value

    def error_of(self, error: BaseException) -> Any:
        """The text for the model about an Activity's exception."""
        return {"type": type(error).__name__, "message": str(error)}

    async def confirm(self, call: Call) -> Decision:
        """Ask a person about a call."""
        assert self.confirmation is not None
        return await self.confirmation(call)

    # Tasks

    async def _read(self, tick: CallScheduler, events: Events) -> Solution | Unreadable:
        """Run the Request: one event for each complete call, and one for the end."""
        reader = self.reader()
        try:
            async with aclosing(self.ask()) as pieces:
                async for piece in pieces:
                    self._hear(reader.feed(piece), tick, events)
            solution = reader.close()
        except Exception as error:
            events.put_nowait(partial(_throw, error))
            raise
        events.put_nowait(partial(self.request_ended, tick, solution))
        return solution

    def _hear(self, calls: Sequence[Any], tick: CallScheduler, events: Events) -> None:
        if not self.lazy:
            for raw in calls:
                events.put_nowait(partial(tick.streamed, raw))

    async def _do(self, step: Step, tick: CallScheduler, events: Events) -> None:
        """Run a step of the scheduler, and put the resulting event into the queue."""
        event: Event
        try:
            match step:
                case Start():
                    event = await self._run(step, tick)
                case Confirm(call):
                    event = partial(tick.decided, call, await self.confirm(call))
        except Exception as error:  # noqa: BLE001 - the caller gets the error
            event = partial(_throw, error)
        events.put_nowait(event)

    async def _run(self, start: Start, tick: CallScheduler) -> Event:
        try:
            value = await self.dispatch(start)
        except asyncio.CancelledError as error:
            if _is_cancelled():
                raise
            return partial(tick.failed, start.call, self.error_of(error))
        except Exception as error:  # noqa: BLE001 - the model gets any error of an Activity
            return partial(tick.failed, start.call, self.error_of(error))
        return partial(tick.completed, start.call, value)

    def _plan(self) -> int | None:
        """The plan in the context; the last one counts."""
        places = [at for at, message in enumerate(self._context.messages) if message["type"] == "plan"]
        return places[-1] if places else None


def _is_cancelled() -> bool:
    """Whether a `CancelledError` was sent to the task that it was raised in; an Activity may raise its own."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _throw(error: Exception) -> NoReturn:
    raise error
