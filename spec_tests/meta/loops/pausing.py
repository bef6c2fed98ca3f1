"""Loops on Messages that are correct with few paused turns, or with none, as the service pauses for its own tools."""

from __future__ import annotations

from looptck_reference import Decision, Loop, Stop, Turn
from looptck_reference.kit.driver import Driver
from looptck_reference.vocabulary.values import Json


class Unpaused(Driver):
    """Offers no tool of the service, so it takes a paused turn for the answer."""

    def start(self) -> Json:
        """Declares no tool of the service."""
        started = super().start()
        kept = {name: can for name, can in started["capabilities"].items() if not name.startswith("hosted")}
        return {**started, "capabilities": {**kept, "mcp": False}}

    class loop(Loop):  # noqa: N801  the driver's attribute
        def decide(self, turn: Turn) -> Decision:
            return Decision.ANSWER if turn.stop is Stop.PAUSE else super().decide(turn)


class ResumesFiveTimes(Driver):
    """Goes on with the fifth paused turn of a run, and not with the sixth."""

    class loop(Loop):  # noqa: N801
        paused = 0

        def decide(self, turn: Turn) -> Decision:
            self.paused += turn.stop is Stop.PAUSE
            return Decision.ANSWER if self.paused > 5 else super().decide(turn)
