"""Loops with one fault each, from public reports: a check that passes one of them is too weak."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, ClassVar

from looptck_mutants.core.policies import answering
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.actions import End, Fail
from looptck_reference.vocabulary.values import ToolCall, ToolResult, Turn
from meta.loops.own_ids import with_ids


class NewIdsForCallsOnly(Driver):
    """Sends calls back with new ids, but results with the old ids."""

    class loop(Loop):  # noqa: N801  the driver's attribute
        """Changes the ids in the history."""

        def append_turn(self, turn: Turn) -> None:
            super().append_turn(with_ids(turn, lambda own: f"new_{own}"))


class OneIdForAll(Driver):
    """Gives all calls of a turn the same id."""

    class loop(Loop):  # noqa: N801
        """Changes the ids before any other step."""

        def model_answered(self, turn: Turn) -> Any:
            return super().model_answered(with_ids(turn, lambda _: "call"))


class ResultsSwapped(Driver):
    """Gives calls new ids, and sends each result with the id of another call; its calls run in their order."""

    dialects = answering(parallel=False)

    class loop(Loop):  # noqa: N801
        """Changes the ids before any other step, and swaps the results."""

        def model_answered(self, turn: Turn) -> Any:
            self.ids = [f"new_{call.id}" for call in turn.calls]
            return super().model_answered(with_ids(turn, lambda own: f"new_{own}"))

        def answer_id(self, call: ToolCall) -> str:
            return self.ids[len(self.ids) - 1 - self.ids.index(call.id)]


class AllResultsSoFar(Driver):
    """Answers each call with the results of all calls so far."""

    class loop(Loop):  # noqa: N801
        """Never empties what it collects."""

        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            self.all: list[str] = []

        def result(self, call: ToolCall, end: End) -> ToolResult | Fail:
            made = super().result(call, end)
            if isinstance(made, Fail):
                return made
            self.all.append(made.text)
            return replace(made, text=json.dumps(self.all))


class OtherArgumentsEchoed(Driver):
    """Gives calls new ids, and drops their arguments."""

    class loop(Loop):  # noqa: N801
        """Empties the arguments in the history."""

        def append_turn(self, turn: Turn) -> None:
            calls = tuple(replace(call, arguments="{}") for call in turn.calls)
            super().append_turn(replace(turn, calls=calls))

        def model_answered(self, turn: Turn) -> Any:
            return super().model_answered(with_ids(turn, lambda own: f"new_{own}"))


class HasNoLimit(Driver):
    """Asks for ever; its requests are counted, run by run."""

    asked: ClassVar[list[int]] = []

    class loop(Loop):  # noqa: N801
        """Has a limit that nobody reaches if it was given none."""

        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **{**named, "limit": named.get("limit") or 100_000})
            HasNoLimit.asked.append(0)

        def ask(self) -> Any:
            HasNoLimit.asked[-1] += 1
            return super().ask()
