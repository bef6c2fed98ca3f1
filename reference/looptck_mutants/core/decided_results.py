"""Results of turns with calls that need approval, put in the wrong places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from looptck_mutants.cells import CHAT, MESSAGES
from looptck_mutants.parts import breaks
from looptck_reference import Loop, MessagesWire, ToolResult
from looptck_reference.vocabulary.values import Json


@breaks(
    "results-carry-their-call-ids",
    "resumed-run-equals-an-unbroken-one",
    collateral={
        "suspended-state-travels": "it is resumed too",
        "rejection-reason-reaches-the-model": "the result of a rejected call is another's",
    },
    cells=CHAT,
)
class FreeResultsFirst(Loop):
    """Sorts the results of the calls that need no approval first, and gives them the ids of the unsorted calls."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        guarded = {tool.name for tool in self.tools.values() if tool.approval}
        given = sorted(results, key=lambda one: one.name in guarded)
        super().append_results([replace(one, text=other.text) for one, other in zip(results, given, strict=True)])


@breaks("results-share-one-message", cells=MESSAGES)
class RejectionsApart(MessagesWire):
    """Sends the results of rejected calls in a user message of their own."""

    def results(self, results: Sequence[ToolResult]) -> list[Json]:
        rejected = [one for one in results if "was rejected" in one.text]
        others = [one for one in results if one not in rejected]
        apart = [others, rejected] if others and rejected else [results]
        return [message for part in apart for message in super(RejectionsApart, self).results(part)]
