"""Broad mutants: faults that act in every run, to prove each case of the requirements that they break."""

from __future__ import annotations

from looptck_mutants import broad_faults
from looptck_mutants.core import arguments
from looptck_mutants.parts import breaks

CELLS = ("*/*/sync",)


@breaks("mode-bad-arguments-run-nothing", cells=CELLS, broad=True)
class ModeBadIsNothing(arguments.BadIsNothing):
    """Runs a tool without arguments if its arguments are invalid JSON."""


@breaks("mode-failing-call-leaves-the-others-whole", "mode-result-is-the-tools-text", cells=CELLS, broad=True)
class ModeGarblesResults(broad_faults.GarblesResults):
    """Sends the same word as the result of every call."""


@breaks("mode-arguments-are-keywords", "mode-streamed-calls-are-accumulated", cells=CELLS, broad=True)
class ModeHandsNothing(broad_faults.HandsNothing):
    """Runs every tool without arguments."""


@breaks("mode-other-finish-reason-is-final", cells=CELLS, broad=True)
class ModeRunsCutCalls(broad_faults.RunsCutCalls):
    """Runs all calls, whatever the stop reason of the turn."""
