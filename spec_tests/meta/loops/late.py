"""Loops that hand on text late: when the turn is whole, or when the run is."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from looptck_mutants.core.cancelling import CANCELLED
from looptck_mutants.parts import asking
from looptck_reference.http.exchange import Exchange, Step
from looptck_reference.http.stepping import OnText
from looptck_reference.kit.driver import Driver
from looptck_reference.vocabulary.values import Json, Turn


class _WholeTexts(Exchange):
    def receive(self) -> Generator[Step, Any, Turn]:
        reception = self.reception()
        texts: list[str] = []
        while piece := (yield from self.read()):
            texts += [told for told in reception.feed(piece) if isinstance(told, str)]
        turn = reception.close()
        if texts:
            yield "".join(texts)
        return turn


class WhenTheTurnIsWhole(Driver):
    """Hands on the text of a turn in one piece at its end, as a client with a large buffer does."""

    invoker = asking(_WholeTexts)


class WhenTheRunIsOver(Driver):
    """Hands on all texts at the end of the run."""

    def run(self, case: Json, emit: OnText) -> Json:
        texts: list[str] = []
        options = dict(case["options"])
        after = options.pop("leave_after", None)
        outcome = super().run(
            {**case, "options": options}, lambda told: texts.append(told) if isinstance(told, str) else None
        )
        for text in texts[:after]:
            emit(text)
        return outcome if after is None else CANCELLED
