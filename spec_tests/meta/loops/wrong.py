"""Loops with one fault each, written from what people hit: a check that passes one of them is too weak."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Loop
from looptck_reference.loop.values import ToolCall, Turn
from meta.loops.own_ways import with_ids


class NewIdsForCallsOnly(Driver):
    """Echoes calls under new ids, and answers them under the old ones."""

    class loop(Loop):  # noqa: N801  the driver's attribute
        """Renames on the way into the history."""

        def append_turn(self, turn: Turn) -> None:
            super().append_turn(with_ids(turn, lambda own: f"new_{own}"))


class OneIdForAll(Driver):
    """Gives all calls of a turn one id."""

    class loop(Loop):  # noqa: N801
        """Renames before anything else."""

        def model_answered(self, turn: Turn) -> Any:
            return super().model_answered(with_ids(turn, lambda _: "call"))


class ResultsSwapped(Driver):
    """Gives calls new ids, and answers each under that of another."""

    class loop(Loop):  # noqa: N801
        """Renames before anything else, and mixes up the answers."""

        def model_answered(self, turn: Turn) -> Any:
            self.ids = [f"new_{call.id}" for call in turn.calls]
            return super().model_answered(with_ids(turn, lambda own: f"new_{own}"))

        def answer_id(self, call: ToolCall) -> str:
            return self.ids[len(self.ids) - 1 - self.ids.index(call.id)]


class OtherArgumentsEchoed(Driver):
    """Gives calls new ids, and forgets their arguments."""

    class loop(Loop):  # noqa: N801
        """Empties the arguments on the way into the history."""

        def append_turn(self, turn: Turn) -> None:
            calls = tuple(replace(call, arguments="{}") for call in turn.calls)
            super().append_turn(replace(turn, calls=calls))

        def model_answered(self, turn: Turn) -> Any:
            return super().model_answered(with_ids(turn, lambda own: f"new_{own}"))
