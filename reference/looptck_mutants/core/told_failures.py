"""Failures that are told to the caller or to the model as something else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from looptck_mutants.cells import CHAT, MESSAGES
from looptck_mutants.parts import breaks
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.actions import Run
from looptck_reference.vocabulary.values import ToolResult


class Telling(Loop):
    """Knows which calls of the turn have run."""

    def ran(self, result: ToolResult) -> bool:
        """Whether this is the result of a call that has run."""
        return result.call_id in {step.call.id for _, step in self._batch if isinstance(step, Run)}


@breaks("call-that-cannot-run-is-told-as-failed", cells=CHAT)
class CallsWithoutARunAreDone(Telling):
    """Tells of calls that it cannot run that they have gone well."""

    def announce_result(self, result: ToolResult) -> None:
        super().announce_result(result if self.ran(result) else replace(result, failed=False))


@breaks("failed-results-are-marked", cells=MESSAGES)
class OnlyRunsFail(Telling):
    """Marks no result of a call that it cannot run as failed."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results([one if self.ran(one) else replace(one, failed=False) for one in results])
