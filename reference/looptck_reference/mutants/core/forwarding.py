"""Text that reaches the caller late, or twice: what the driver's runs hand on."""

from __future__ import annotations

from looptck_reference.mutants.mutant import CHAT_STREAM, Mutant
from looptck_reference.runner import OnText
from looptck_reference.values import Json


class Hoarder(Mutant):
    """Keeps the final text until all of it is there: `final-text-arrives-as-it-is-written`."""

    breaks = ("final-text-arrives-as-it-is-written",)
    cells = CHAT_STREAM

    def run(self, case: Json, emit: OnText) -> Json:
        """One piece at the end."""
        held: list[str] = []
        outcome = super().run(case, held.append)
        emit("".join(held))
        return outcome


class SaidTwice(Mutant):
    """Hands on the whole answer once more at its end: `chunks-join-to-the-answer`."""

    breaks = ("chunks-join-to-the-answer",)
    cells = CHAT_STREAM

    def run(self, case: Json, emit: OnText) -> Json:
        """All pieces, and then all of them as one."""
        outcome = super().run(case, emit)
        if case["stream"] and outcome["kind"] == "value":
            emit(outcome["text"])
        return outcome
