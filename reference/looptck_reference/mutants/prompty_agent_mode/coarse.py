"""Coarse mutants: gross faults that prove the cases of what they break, one by one."""

from __future__ import annotations

from looptck_reference.mutants import gross
from looptck_reference.mutants.core import arguments
from looptck_reference.mutants.mutant import Mutant

CELLS = ("*/*/sync",)


class ModeBadIsNothing(Mutant):
    """Takes arguments that are no JSON for none."""

    breaks = ("mode-bad-arguments-run-nothing",)
    cells = CELLS
    coarse = True
    loop = arguments.BadIsNothing.loop


class ModeGarblesResults(Mutant):
    """Sends one word back for every result."""

    breaks = (
        "mode-failing-call-leaves-the-others-whole",
        "mode-result-is-the-tools-text",
    )
    cells = CELLS
    coarse = True
    loop = gross.GarblesResults


class ModeHandsNothing(Mutant):
    """Hands no tool any argument."""

    breaks = (
        "mode-arguments-are-keywords",
        "mode-streamed-calls-are-accumulated",
    )
    cells = CELLS
    coarse = True
    loop = gross.HandsNothing


class ModeRunsCutCalls(Mutant):
    """Runs whatever calls it finds."""

    breaks = ("mode-other-finish-reason-is-final",)
    cells = CELLS
    coarse = True
    loop = gross.RunsCutCalls
