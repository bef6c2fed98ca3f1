"""Calls that run otherwise: the seams `calls_of`, `handler_for` and `handler_of_name`."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from looptck_mutants.cells import RESPONSES
from looptck_mutants.parts import breaks
from looptck_reference.loop.loop import Loop
from looptck_reference.loop.tools import Handler
from looptck_reference.loop.values import ToolCall, ToolResult, Turn

CHAT_ASYNC = ("openai-chat/plain/async",)


@breaks(
    "mode-calls-are-executed",
    collateral={"mode-finish-reason-tool-calls-runs-tools": "a turn of two calls that finishes with that word"},
    cells=RESPONSES,
)
class SecondIsASpare(Loop):
    """Runs the second of two calls only if the first has failed."""

    pair = False

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        self.pair = len(turn.calls) == 2
        return super().calls_of(turn)

    def handler_for(self, call: ToolCall) -> Handler | None:
        spared = self.pair and any(not result.failed for result in self._results)
        return (lambda **_: "not needed") if spared else super().handler_for(call)


@breaks("mode-functions-are-found-by-name")
class NamesInAnyCase(Loop):
    """Finds functions by their name in any case."""

    def handler_of_name(self, call: ToolCall) -> Handler | None:
        names = {name.lower(): name for name in self.tools}
        return super().handler_of_name(replace(call, name=names.get(call.name.lower(), call.name)))


@breaks("mode-arguments-are-keywords")
class ArgumentsByPosition(Loop):
    """Hands arguments over in the order in which they were written."""

    def handler_for(self, call: ToolCall) -> Handler | None:
        handler = super().handler_for(call)
        names = list(self.tools[call.name].parameters["properties"]) if call.name in self.tools else []
        return handler and (lambda **given: handler(**dict(zip(names, given.values(), strict=False))))


@breaks("mode-tools-run-one-after-the-other")
class LastCallFirst(Loop):
    """Runs the calls of a turn from the last to the first."""

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        return turn.calls[::-1]

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results(results[::-1])


@breaks("mode-async-tools-are-awaited", cells=CHAT_ASYNC)
class FifthNotAwaited(Loop):
    """Awaits four coroutines of a run, and takes the fifth for a result."""

    awaited = 0

    def handler_for(self, call: ToolCall) -> Handler | None:
        handler = super().handler_for(call)
        self.awaited += inspect.iscoroutinefunction(handler)
        return unawaited(handler) if handler and self.awaited > 4 else handler


@breaks("mode-plain-tools-run-in-async-runs", cells=CHAT_ASYNC)
class FirstFunctionDecides(Loop):
    """Takes all functions of a run for plain ones if the first is."""

    def handler_for(self, call: ToolCall) -> Handler | None:
        handler = super().handler_for(call)
        first = self.registry.get_tool(next(iter(self.tools), ""))
        return handler if handler is None or inspect.iscoroutinefunction(first) else unawaited(handler)


def unawaited(handler: Handler) -> Handler:
    """A handler of whose coroutine nobody knows that it is one: the result is what it reads like."""

    def handle(**arguments: Any) -> Any:
        value = handler(**arguments)
        if not inspect.iscoroutine(value):
            return value
        value.close()
        return f"<coroutine object {value.__qualname__}>"

    return handle
