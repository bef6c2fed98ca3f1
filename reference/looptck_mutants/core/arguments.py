"""Arguments that are not what the model wrote, and tools that run again: `parse_arguments` and dispatch."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from looptck_mutants.parts import breaks
from looptck_reference.loop.actions import Fail, Run
from looptck_reference.loop.errors import BadArguments
from looptck_reference.loop.loop import Loop
from looptck_reference.loop.tools import Handler
from looptck_reference.loop.values import Json, ToolCall, ToolResult


@breaks(
    "arguments-arrive-whatever-their-shape",
    collateral={
        ("missing-sequence-is-tolerated", "recorded-traffic-is-read-right"): "numbers with fractions were recorded"
    },
)
class WholeNumbers(Loop):
    """Cuts the fractions off numbers."""

    def parse_arguments(self, text: str) -> Json:
        super().parse_arguments(text)
        return dict(json.loads(text or "{}", parse_float=lambda number: int(float(number))))


@breaks(
    "empty-arguments-are-an-empty-object",
    collateral={"no-argument-delta-is-an-empty-object": "what is streamed in no piece is empty text"},
)
class NothingIsBad(Loop):
    """Takes arguments that are empty text for bad ones."""

    def parse_arguments(self, text: str) -> Json:
        if not text:
            raise BadArguments("there are none")
        return super().parse_arguments(text)


@breaks("bad-arguments-never-run-the-tool")
class BadIsNothing(Loop):
    """Runs a tool without arguments where it cannot read them."""

    def parse_arguments(self, text: str) -> Json:
        try:
            return super().parse_arguments(text)
        except BadArguments:
            return {}


@breaks("bad-arguments-never-run-the-tool")
class RubbishIsNothing(Loop):
    """Reads no arguments in what it cannot read, and asks for what is required."""

    needs: Sequence[str] = ()

    def prepare(self, call: ToolCall) -> Run | ToolResult | Fail:
        tool = self.tools.get(call.name)
        self.needs = tool.parameters.get("required", ()) if tool else ()
        return super().prepare(call)

    def parse_arguments(self, text: str) -> Json:
        try:
            return super().parse_arguments(text)
        except BadArguments:
            if self.needs:
                raise
            return {}


@breaks("raising-tool-runs-once")
class TriesAgain(Loop):
    """Runs a tool that raised once more."""

    def handler_for(self, call: ToolCall) -> Handler | None:
        handler = super().handler_for(call)
        return None if handler is None else _stubborn(handler)


def _stubborn(handler: Handler) -> Handler:
    def again(**arguments: Any) -> Any:
        try:
            return handler(**arguments)
        except Exception:  # noqa: BLE001  whatever it is, it may be gone by now
            return handler(**arguments)

    return again
