"""Loops with a flaw, as drivers: the reference with one seam bent, or no loop at all."""

from __future__ import annotations

from typing import Any, ClassVar

from looptck_reference.driver import Driver
from looptck_reference.loop import Loop
from looptck_reference.seams import Decision
from looptck_reference.values import Turn

Json = dict[str, Any]


class TakesCallsForAnswers(Driver):
    """Never runs a tool: it takes every turn for the answer."""

    class loop(Loop):  # noqa: N801 - the driver's attribute
        """The bent loop."""

        def decide(self, turn: Turn) -> Decision:
            """Every turn is the answer."""
            return Decision.ANSWER


class NoLoop(Driver):
    """Never asks a model: every run ends at once."""

    outcome: ClassVar[Json] = {}

    def run(self, case: Json, emit: Any) -> Json:
        """End."""
        return self.outcome

    async def run_async(self, case: Json, emit: Any) -> Json:
        """End."""
        return self.outcome


class Refuses(NoLoop):
    """Raises at once, whatever it is asked."""

    outcome: ClassVar[Json] = {
        "kind": "error",
        "reason": "other",
        "type": "ImportError",
        "message": "no module named loop",
    }


class Pretends(NoLoop):
    """Returns an answer at once, without asking a model."""

    outcome: ClassVar[Json] = {"kind": "value", "text": "Done.", "stop": "end"}


class CannotStream(Driver):
    """The reference, for which no streams, no limits and no concurrent runs are declared."""

    def start(self) -> Json:
        """Declare less than it can do."""
        return {**super().start(), "capabilities": {}}
