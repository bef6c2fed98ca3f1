"""Requests that the service refuses, only after unusual events."""

from __future__ import annotations

from collections.abc import Sequence

from looptck_mutants.cells import CHAT, MESSAGES, RESPONSES
from looptck_mutants.parts import breaks
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.values import ToolResult

UNKNOWN = "cannot be called"
"""A part of the reference's error message about unknown tools."""


@breaks(
    "no-request-is-refused",
    collateral={
        "results-follow-their-calls": "a message between the results separates them from their calls",
        "rejected-call-is-answered": "a rejection is a failure",
        "resume-obeys-each-decision": "a decision may be a rejection",
    },
    cells=CHAT,
)
class WordBesideFailure(Loop):
    """Adds a user message between the results if a tool failed."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        for result in results:
            if result.failed and UNKNOWN not in result.text:
                self.history.append({"role": "user", "content": "That did not work."})
            super().append_results([result])


@breaks("no-request-is-refused", cells=CHAT)
class EmptyResultForgotten(Loop):
    """Omits a result whose text is empty."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results([result for result in results if result.text])


@breaks("no-request-is-refused", cells=MESSAGES)
class UnknownIsNamedTwice(Loop):
    """Sends two results for a call of an unknown tool."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results([*results, *(one for one in results if UNKNOWN in one.text)])


@breaks(
    "no-request-is-refused",
    collateral={
        "limit-allows-what-fits": "a run of seven turns has a third one, and the refusal ends it",
        ("pruned-history-has-no-orphan", "pruned-history-keeps-the-last-round"): "their runs have a third turn",
    },
    cells=RESPONSES,
)
class ThirdTurnUnanswered(Loop):
    """Omits the last result of the third turn."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results(results[:-1] if self.model_calls == 3 else results)
