"""Loops that start the calls of a stream as soon as they are whole, as tasks that they cancel where the turn is lost.

Whether such a task has reached its tool by then is a race: a check that leaves it to that has no verdict.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Iterable
from contextlib import aclosing
from typing import Any, ClassVar

import httpx

from looptck_reference.agent import Agent
from looptck_reference.driver import Driver
from looptck_reference.exchange import Exchange
from looptck_reference.invoke import Invocation, Invoker
from looptck_reference.loop import Loop
from looptck_reference.runner import AsyncRunner
from looptck_reference.seams import Decision
from looptck_reference.tools import Handler
from looptck_reference.values import Json, ToolCall, Turn
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


class EarlyRunner(AsyncRunner):
    """Lets the loop look at a stream between its pieces."""

    async def _receive(self, exchange: Exchange, response: httpx.Response) -> AsyncGenerator[str | Turn]:
        reception = exchange.reception()
        loop = exchange._loop
        assert isinstance(loop, EarlyLoop)
        kept = False
        try:
            async with aclosing(self._bytes(response)) as pieces:
                async for piece in pieces:
                    for text in reception.feed(piece):
                        yield text
                    loop.start_early(_told(reception._stream))
            turn = reception.close()
            kept = loop.decide(turn) is Decision.RUN
        finally:
            if not kept:
                loop.cancel_early()
        yield turn


class EarlyInvoker(Invoker):
    """Runs on it."""

    def async_runner(self, begun: Invocation) -> AsyncRunner:
        """One that starts early."""
        where = begun.service
        return EarlyRunner(where.base_url, where.api_key, wire=begun.loop.wire, client=self.async_client)


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
