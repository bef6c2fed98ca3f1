"""Text that reaches the caller late, or twice: what the driver's runs hand on."""

from __future__ import annotations

from looptck_mutants.cells import CHAT_STREAM
from looptck_mutants.parts import breaks
from looptck_reference.http.runner import OnText
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.values import Json


@breaks("final-text-arrives-as-it-is-written", cells=CHAT_STREAM)
class Hoarder(Driver):
    """Keeps the final text until all of it is there."""

    def run(self, case: Json, emit: OnText) -> Json:
        """One piece at the end."""
        held: list[str] = []
        outcome = super().run(case, held.append)
        emit("".join(held))
        return outcome


@breaks("chunks-join-to-the-answer", cells=CHAT_STREAM)
class SaidTwice(Driver):
    """Hands on the whole answer once more at its end."""

    def run(self, case: Json, emit: OnText) -> Json:
        """All pieces, and then all of them as one."""
        outcome = super().run(case, emit)
        if case["stream"] and outcome["kind"] == "value":
            emit(outcome["text"])
        return outcome
