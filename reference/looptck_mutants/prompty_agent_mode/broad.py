"""Broad mutants: faults that act in every run, and prove the cases of what they break, one by one."""

from __future__ import annotations

from looptck_mutants import broad_faults
from looptck_mutants.core import arguments
from looptck_mutants.parts import breaks

CELLS = ("*/*/sync",)


@breaks("mode-bad-arguments-run-nothing", cells=CELLS, broad=True)
class ModeBadIsNothing(arguments.BadIsNothing):
    """Takes arguments that are no JSON for none."""


@breaks("mode-failing-call-leaves-the-others-whole", "mode-result-is-the-tools-text", cells=CELLS, broad=True)
class ModeGarblesResults(broad_faults.GarblesResults):
    """Sends one word back for every result."""


@breaks("mode-arguments-are-keywords", "mode-streamed-calls-are-accumulated", cells=CELLS, broad=True)
class ModeHandsNothing(broad_faults.HandsNothing):
    """Hands no tool any argument."""


@breaks("mode-other-finish-reason-is-final", cells=CELLS, broad=True)
class ModeRunsCutCalls(broad_faults.RunsCutCalls):
    """Runs whatever calls it finds."""
