"""Loops that start the calls of a stream as soon as they are complete, as tasks that are cancelled if the turn is lost.

Whether such a task has reached its tool by then is a race; a check that depends on this race has no reliable verdict.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Generator, Iterable
from typing import Any, ClassVar

from looptck_reference.http.exchange import Exchange, Step
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Decision, Loop
from looptck_reference.prompty.invoke import Invoker
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.tools import Handler
from looptck_reference.vocabulary.values import Json, ToolCall, Turn
from looptck_reference.wires import ChatStream, MessagesStream, ResponsesStream
from meta.loops.declaring import without_talking


class EarlyLoop(Loop):
    """Starts calls before the stop reason is known."""

    def __init__(self, agent: Agent, **options: Any) -> None:
        super().__init__(agent, **options)
        self.started: dict[str, asyncio.Task[Any]] = {}

    def start_early(self, calls: Iterable[ToolCall]) -> None:
        """Start the complete calls that were not started yet."""
        for call in calls:
            handler = super().handler_for(call)
            arguments = _object(call.arguments)
            if handler is not None and arguments is not None and call.id not in self.started:
                self.started[call.id] = asyncio.ensure_future(_running(handler(**arguments)))

    def cancel_early(self) -> None:
        """Cancel the started calls, because the turn is lost."""
        for task in self.started.values():
            task.cancel()

    def handler_for(self, call: ToolCall) -> Handler | None:
        """A handler that waits for a started call, once."""
        task = self.started.pop(call.id, None)
        return super().handler_for(call) if task is None else lambda **_: task


class EarlyConversation(Exchange):
    """Shows the loop a stream after each of its pieces."""

    def receive(self) -> Generator[Step, Any, Turn]:
        """Read the stream; unless it ends with a turn whose calls run, cancel the started calls."""
        reception = self.reception()
        assert isinstance(self.loop, EarlyLoop)
        kept = False
        try:
            while piece := (yield from self.read()):
                yield from reception.feed(piece)
                self.loop.start_early(_calls_so_far(reception._stream))
            turn = reception.close()
            kept = self.loop.decide(turn) is Decision.RUN
        finally:
            if not kept:
                self.loop.cancel_early()
        return turn


class EarlyInvoker(Invoker):
    """Uses this conversation."""

    exchange = EarlyConversation


class StartsEarly(Driver):
    """Faulty: calls that it started early have run although the turn is lost. It declares the capability."""

    loop = EarlyLoop
    invoker = EarlyInvoker
    eager: ClassVar[bool] = True

    def start(self) -> Json:
        """The description, with async mode only."""
        return {**without_talking(super().start(), eager=self.eager), "modes": ["async"]}


class StartsEarlyUndeclared(StartsEarly):
    """The same loop without the declaration."""

    eager = False


def _calls_so_far(stream: object) -> Iterable[ToolCall]:
    """The calls of a stream as far as they have arrived."""
    match stream:
        case ChatStream():
            return [call.whole() for call in stream._calls]
        case MessagesStream():
            calls = [block for block in stream.blocks if block.head.get("type") == "tool_use"]
            return [ToolCall(block.head["id"], block.head["name"], "".join(block.input)) for block in calls]
        case ResponsesStream():
            calls_of = [item for item in stream.items if item.item.get("type") == "function_call"]
            return [ToolCall(one.item["call_id"], one.item["name"], "".join(one.arguments)) for one in calls_of]
    return ()


def _object(text: str) -> Json | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


async def _running(end: Awaitable[Any]) -> Any:
    return await end
