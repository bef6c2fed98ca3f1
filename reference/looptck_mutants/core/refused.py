"""Requests that the service refuses, and only where something beside the ordinary has happened."""

from __future__ import annotations

from collections.abc import Sequence

from looptck_mutants.cells import CHAT, MESSAGES, RESPONSES
from looptck_mutants.parts import breaks
from looptck_reference.loop.loop import Loop
from looptck_reference.loop.values import ToolResult

UNKNOWN = "cannot be called"
"""Words of the reference's own about a tool that nobody offered."""


@breaks(
    "no-request-is-refused",
    collateral={"results-follow-their-calls": "a word between the results parts them from their calls"},
    cells=CHAT,
)
class WordBesideFailure(Loop):
    """Puts a word of the user between the results as soon as a tool fails."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        for result in results:
            if result.failed and UNKNOWN not in result.text:
                self.history.append({"role": "user", "content": "That did not work."})
            super().append_results([result])


@breaks("no-request-is-refused", cells=CHAT)
class EmptyResultForgotten(Loop):
    """Leaves out a result whose text is empty."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results([result for result in results if result.text])


@breaks("no-request-is-refused", cells=MESSAGES)
class UnknownIsNamedTwice(Loop):
    """Answers the call of a tool that nobody offered twice."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results([*results, *(one for one in results if UNKNOWN in one.text)])


@breaks(
    "no-request-is-refused",
    collateral={"limit-allows-what-fits": "seven turns have a third one, and the refusal ends the run"},
    cells=RESPONSES,
)
class ThirdTurnUnanswered(Loop):
    """Leaves the last call of the third turn without its result."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results(results[:-1] if self.model_calls == 3 else results)
