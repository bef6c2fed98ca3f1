"""Loops that are not broken, only unusual: a check that fails one of them accuses falsely."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence

from looptck_reference.actions import Action, Finish
from looptck_reference.driver import Driver
from looptck_reference.loop import Loop
from looptck_reference.mutants.core.asking import asking
from looptck_reference.mutants.core.memory import Leaning, Retelling
from looptck_reference.seams import Decision
from looptck_reference.values import Answer, Stop, ToolCall, ToolResult, Turn


class Unordered(Driver):
    """Runs every second turn's calls from the last to the first, as chance may where calls overlap."""

    class loop(Loop):  # noqa: N801  the driver's attribute
        turns = itertools.count()

        def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
            calls = super().calls_of(turn)
            self.order = [call.id for call in calls]
            return calls[::-1] if next(self.turns) % 2 else calls

        def append_results(self, results: Sequence[ToolResult]) -> None:
            super().append_results(sorted(results, key=lambda result: self.order.index(result.call_id)))


class BadCallsHandedBack(Driver):
    """Ends at a turn with a call that it cannot read, and tells its caller of the calls that it did not run."""

    class loop(Loop):  # noqa: N801
        def decide(self, turn: Turn) -> Decision:
            return super().decide(turn) if all(map(_reads, turn.calls)) else Decision.ANSWER

        def stop(self, turn: Turn) -> Action:
            return super().stop(turn) if all(map(_reads, turn.calls)) else Finish(Answer(turn.text, Stop.CALLS))


class InThreadsRetold(Leaning):
    """Leans on the service's memory of the conversation, and tells it all anew where that is lost."""

    invoker = asking(Retelling)


def _reads(call: ToolCall) -> bool:
    """Whether the arguments are a JSON object, or nothing."""
    try:
        return isinstance(json.loads(call.arguments or "{}"), dict)
    except ValueError:
        return False
