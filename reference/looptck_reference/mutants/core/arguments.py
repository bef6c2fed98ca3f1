"""Arguments that are not what the model wrote, and tools that run again: `parse_arguments` and dispatch."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from looptck_reference.actions import Fail, Run
from looptck_reference.errors import BadArguments
from looptck_reference.loop import Loop
from looptck_reference.mutants.mutant import Mutant, because
from looptck_reference.tools import Handler
from looptck_reference.values import Json, ToolCall, ToolResult


class WholeNumbers(Mutant):
    """Cuts the fractions off numbers: `arguments-arrive-whatever-their-shape`."""

    breaks = ("arguments-arrive-whatever-their-shape",)
    also = because(
        "numbers with fractions were recorded", "missing-sequence-is-tolerated", "recorded-traffic-is-read-right"
    )

    class loop(Loop):  # noqa: N801  the driver's attribute
        def parse_arguments(self, text: str) -> Json:
            super().parse_arguments(text)
            return dict(json.loads(text or "{}", parse_float=lambda number: int(float(number))))


class NothingIsBad(Mutant):
    """Takes arguments that are empty text for bad ones: `empty-arguments-are-an-empty-object`."""

    breaks = ("empty-arguments-are-an-empty-object",)
    also = because("what is streamed in no piece is empty text", "no-argument-delta-is-an-empty-object")

    class loop(Loop):  # noqa: N801
        def parse_arguments(self, text: str) -> Json:
            if not text:
                raise BadArguments("there are none")
            return super().parse_arguments(text)


class BadIsNothing(Mutant):
    """Runs a tool without arguments where it cannot read them: `bad-arguments-never-run-the-tool`."""

    breaks = ("bad-arguments-never-run-the-tool",)

    class loop(Loop):  # noqa: N801
        def parse_arguments(self, text: str) -> Json:
            try:
                return super().parse_arguments(text)
            except BadArguments:
                return {}


class RubbishIsNothing(Mutant):
    """Reads no arguments in what it cannot read, and asks for what is required: `bad-arguments-never-run-the-tool`."""

    breaks = ("bad-arguments-never-run-the-tool",)

    class loop(Loop):  # noqa: N801
        needs: Sequence[str] = ()

        def _prepare(self, call: ToolCall) -> Run | ToolResult | Fail:
            tool = self.tools.get(call.name)
            self.needs = tool.parameters.get("required", ()) if tool else ()
            return super()._prepare(call)

        def parse_arguments(self, text: str) -> Json:
            try:
                return super().parse_arguments(text)
            except BadArguments:
                if self.needs:
                    raise
                return {}


class TriesAgain(Mutant):
    """Runs a tool that raised once more: `raising-tool-runs-once`."""

    breaks = ("raising-tool-runs-once",)

    class loop(Loop):  # noqa: N801
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
