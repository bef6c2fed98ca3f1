"""Failures that are told to the caller as something else."""

from __future__ import annotations

from dataclasses import replace

from looptck_mutants.cells import CHAT
from looptck_mutants.parts import breaks
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.actions import Run
from looptck_reference.vocabulary.values import ToolResult


@breaks("call-that-cannot-run-is-told-as-failed", cells=CHAT)
class CallsWithoutARunAreDone(Loop):
    """Tells of calls that it cannot run that they have gone well."""

    def announce_result(self, result: ToolResult) -> None:
        ran = {step.call.id for _, step in self._batch if isinstance(step, Run)}
        super().announce_result(result if result.call_id in ran else replace(result, failed=False))
