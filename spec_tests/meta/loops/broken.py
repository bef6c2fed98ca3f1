"""Broken loops: the reference with one fault each, small enough to be seen through; and one that is only unusual.

Each names its fault and the requirement that must fail because of it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from looptck_reference.driver import Driver
from looptck_reference.loop import Loop
from looptck_reference.runner import OnText
from looptck_reference.values import ToolCall, ToolResult, Turn


class NoLimit(Driver):
    """Asks for ever: `limit-is-a-ceiling`."""

    class loop(Loop):  # noqa: N801  the driver's attribute
        def limit_reached(self) -> bool:
            return False


class OneTooMany(Driver):
    """Its limit is off by one: `limit-is-a-ceiling`."""

    class loop(Loop):  # noqa: N801
        def limit_reached(self) -> bool:
            return self.model_calls > self.limit


class Swapped(Driver):
    """Answers the first call with the last result: `results-carry-their-call-ids`."""

    class loop(Loop):  # noqa: N801
        def append_results(self, results: Sequence[ToolResult]) -> None:
            texts = [result.text for result in reversed(results)]
            swapped = [
                ToolResult(result.call_id, result.name, text, failed=result.failed)
                for result, text in zip(results, texts, strict=True)
            ]
            super().append_results(swapped)


class FirstCallOnly(Driver):
    """Runs the first call of a turn and forgets the others: `every-call-of-a-turn-runs`."""

    class loop(Loop):  # noqa: N801
        def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
            return turn.calls[:1]


class Unordered(Driver):
    """Not broken: it runs every second turn's calls from the last to the first, as chance may where calls overlap."""

    class loop(Loop):  # noqa: N801
        turns = itertools.count()

        def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
            calls = super().calls_of(turn)
            self.order = [call.id for call in calls]
            return calls[::-1] if next(self.turns) % 2 else calls

        def append_results(self, results: Sequence[ToolResult]) -> None:
            super().append_results(sorted(results, key=lambda result: self.order.index(result.call_id)))


class Hoarder(Driver):
    """Keeps the final text until all of it is there: `final-text-arrives-as-it-is-written`."""

    def run(self, case: dict[str, Any], emit: OnText) -> dict[str, Any]:
        held: list[str] = []
        outcome = super().run(case, held.append)
        emit("".join(held))
        return outcome

    async def run_async(self, case: dict[str, Any], emit: OnText) -> dict[str, Any]:
        held: list[str] = []
        outcome = await super().run_async(case, held.append)
        emit("".join(held))
        return outcome
