"""What is asked in place of a request that was too long for the model, with too little in it."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Any

from looptck_mutants.cells import CHAT
from looptck_mutants.parts import breaks
from looptck_reference.http.exchange import Exchange, Step
from looptck_reference.vocabulary.actions import Ask
from looptck_reference.vocabulary.errors import ProviderError
from looptck_reference.vocabulary.values import Turn


class AsksForLess(Exchange):
    """Asks again if a request was too long."""

    def ask(self, ask: Ask) -> Generator[Step, Any, Turn]:
        try:
            return (yield from super().ask(ask))
        except ProviderError as error:
            if "maximum context length" not in str(error):
                raise
        return (yield from super().ask(self.less(ask)))

    def less(self, ask: Ask) -> Ask:
        """What is asked in its place."""
        raise NotImplementedError


@breaks("question-survives-an-overflow", cells=CHAT)
class OverflowForgetsTheQuestion(AsksForLess):
    """Asks again without what the user said if the request was too long."""

    def less(self, ask: Ask) -> Ask:
        return Ask(tuple(one for one in ask.history if one.get("role") != "user"))


@breaks("tools-survive-an-overflow", cells=CHAT)
class OverflowTakesTheTools(AsksForLess):
    """Asks again without tools if the request was too long."""

    def less(self, ask: Ask) -> Ask:
        self.loop.agent = replace(self.loop.agent, tools=())
        return ask
