"""Loops that start the calls of a stream as soon as they are whole, as tasks that they cancel where the turn is lost.

Whether such a task has reached its tool by then is a race: a check that leaves it to that has no verdict.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Generator, Iterable
from typing import Any, ClassVar

from looptck_reference.http.conversation import Conversation, Step
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.agent import Agent
from looptck_reference.loop.loop import Decision, Loop
from looptck_reference.loop.tools import Handler
from looptck_reference.loop.values import Json, ToolCall, Turn
from looptck_reference.prompty.invoke import Invoker
from looptck_reference.wires import ChatStream, MessagesStream, ResponsesStream


class EarlyLoop(Loop):
    """Starts calls before it knows why the model stopped."""

    def __init__(self, agent: Agent, **options: Any) -> None:
        super().__init__(agent, **options)
        self.started: dict[str, asyncio.Task[Any]] = {}

    def start_early(self, calls: Iterable[ToolCall]) -> None:
        """Start those that are whole and were not started yet."""
        for call in calls:
            handler = super().handler_for(call)
            arguments = _object(call.arguments)
            if handler is not None and arguments is not None and call.id not in self.started:
                self.started[call.id] = asyncio.ensure_future(_running(handler(**arguments)))

    def cancel_early(self) -> None:
        """The turn is lost."""
        for task in self.started.values():
            task.cancel()

    def handler_for(self, call: ToolCall) -> Handler | None:
        """What was started is waited for, once."""
        task = self.started.pop(call.id, None)
        return super().handler_for(call) if task is None else lambda **_: task


class EarlyConversation(Conversation):
    """Lets the loop look at a stream between its pieces."""

    def receive(self) -> Generator[Step, Any, Turn]:
        """Whatever ends the stream otherwise than with a turn that runs loses what was started."""
        reception = self.reception()
        assert isinstance(self.loop, EarlyLoop)
        kept = False
        try:
            while piece := (yield from self.read()):
                yield from reception.feed(piece)
                self.loop.start_early(_told(reception._stream))
            turn = reception.close()
            kept = self.loop.decide(turn) is Decision.RUN
        finally:
            if not kept:
                self.loop.cancel_early()
        return turn


class EarlyInvoker(Invoker):
    """Runs on it."""

    conversation = EarlyConversation


class StartsEarly(Driver):
    """Faulty: what it starts early has run, though the turn is lost. It declares that it starts calls early."""

    loop = EarlyLoop
    invoker = EarlyInvoker
    eager: ClassVar[bool] = True

    def start(self) -> Json:
        """In async mode alone."""
        started = super().start()
        return {**started, "modes": ["async"], "capabilities": {**started["capabilities"], "eager": self.eager}}


class StartsEarlyUntold(StartsEarly):
    """Does the same and does not declare it."""

    eager = False


def _told(stream: object) -> Iterable[ToolCall]:
    """The calls of a stream as far as it has told them."""
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
