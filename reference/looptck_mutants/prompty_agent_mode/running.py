"""Calls that run differently: the seams `calls_of`, `handler_for` and `handler_of_name`."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from looptck_mutants.cells import RESPONSES
from looptck_mutants.parts import breaks
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.tools import Handler
from looptck_reference.vocabulary.values import ToolCall, ToolResult, Turn

CHAT_ASYNC = ("openai-chat/plain/async",)


@breaks(
    "mode-calls-are-executed",
    collateral={"mode-finish-reason-tool-calls-runs-tools": "its case has a turn of two calls with this finish reason"},
    cells=RESPONSES,
)
class SecondIsASpare(Loop):
    """Runs the second of two calls only if the first failed."""

    pair = False

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        self.pair = len(turn.calls) == 2
        return super().calls_of(turn)

    def handler_for(self, call: ToolCall) -> Handler | None:
        spared = self.pair and any(not result.failed for result in self._results.values())
        return (lambda **_: "not needed") if spared else super().handler_for(call)


@breaks("mode-functions-are-found-by-name")
class NamesInAnyCase(Loop):
    """Finds functions by name regardless of letter case."""

    def handler_of_name(self, call: ToolCall) -> Handler | None:
        names = {name.lower(): name for name in self.tools}
        return super().handler_of_name(replace(call, name=names.get(call.name.lower(), call.name)))


@breaks("mode-arguments-are-keywords")
class ArgumentsByPosition(Loop):
    """Passes arguments by position, in the order in which the model wrote them."""

    def handler_for(self, call: ToolCall) -> Handler | None:
        handler = super().handler_for(call)
        names = list(self.tools[call.name].parameters["properties"]) if call.name in self.tools else []
        return handler and (lambda **given: handler(**dict(zip(names, given.values(), strict=False))))


@breaks("mode-tools-run-one-after-the-other")
class LastCallFirst(Loop):
    """Runs the calls of a turn in reverse order."""

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        return turn.calls[::-1]

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results(results[::-1])


@breaks("mode-async-tools-are-awaited", cells=CHAT_ASYNC)
class FifthNotAwaited(Loop):
    """Does not await the fifth coroutine of a run, and uses it as the result."""

    awaited = 0

    def handler_for(self, call: ToolCall) -> Handler | None:
        handler = super().handler_for(call)
        self.awaited += inspect.iscoroutinefunction(handler)
        return unawaited(handler) if handler and self.awaited > 4 else handler


@breaks("mode-plain-tools-run-in-async-runs", cells=CHAT_ASYNC)
class FirstFunctionDecides(Loop):
    """Treats all functions of a run as plain functions if the first is one."""

    def handler_for(self, call: ToolCall) -> Handler | None:
        handler = super().handler_for(call)
        first = self.registry.get_tool(next(iter(self.tools), ""))
        return handler if handler is None or inspect.iscoroutinefunction(first) else unawaited(handler)


def unawaited(handler: Handler) -> Handler:
    """The handler, with the text of its coroutine object as the result."""

    def handle(**arguments: Any) -> Any:
        value = handler(**arguments)
        if not inspect.iscoroutine(value):
            return value
        value.close()
        return f"<coroutine object {value.__qualname__}>"

    return handle
