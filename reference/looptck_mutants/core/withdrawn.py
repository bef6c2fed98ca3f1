"""Tools that later requests of a run no longer offer."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Any

from looptck_mutants.cells import CHAT
from looptck_mutants.parts import breaks
from looptck_reference.http.exchange import Exchange, Step
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.actions import Ask
from looptck_reference.vocabulary.errors import ProviderError
from looptck_reference.vocabulary.values import ToolResult, Turn


@breaks("tools-are-offered-every-time", cells=CHAT)
class FailuresTakeTheTools(Loop):
    """Offers no tools once a call has failed."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results(results)
        if any(one.failed for one in results):
            self.agent = replace(self.agent, tools=())


@breaks("tools-survive-an-overflow", cells=CHAT)
class OverflowTakesTheTools(Exchange):
    """Asks again without tools if the request was too long."""

    def ask(self, ask: Ask) -> Generator[Step, Any, Turn]:
        try:
            return (yield from super().ask(ask))
        except ProviderError as error:
            if "maximum context length" not in str(error):
                raise
        self.loop.agent = replace(self.loop.agent, tools=())
        return (yield from super().ask(ask))
