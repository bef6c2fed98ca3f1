"""Coarse mutants: gross faults that prove the cases of what they break, one by one."""

from __future__ import annotations

from looptck_reference.mutants import gross
from looptck_reference.mutants.core import limits
from looptck_reference.mutants.mutant import Mutant

CELLS = ("*/*/sync",)


class SpecHandsNothing(Mutant):
    """Hands no tool any argument."""

    breaks = (
        "spec-binding-needs-its-input",
        "spec-bindings-are-injected",
        "spec-bindings-come-before-dispatch",
        "spec-calls-make-a-tool-round",
    )
    cells = CELLS
    coarse = True
    loop = gross.HandsNothing


class SpecGarblesResults(Mutant):
    """Sends one word back for every result."""

    breaks = (
        "spec-agent-by-path-or-value",
        "spec-kind-handler-is-the-fallback",
        "spec-result-is-the-values-text",
        "spec-single-child-calls-once",
    )
    cells = CELLS
    coarse = True
    loop = gross.GarblesResults


class SpecOneTooMany(Mutant):
    """Asks the model once more than its limit allows."""

    breaks = ("spec-limit-counts-model-calls",)
    cells = CELLS
    coarse = True
    loop = limits.OneTooMany.loop


class SpecEchoesGarbled(Mutant):
    """Echoes turns with other texts and arguments."""

    breaks = ("spec-injected-values-are-not-echoed",)
    cells = CELLS
    coarse = True
    loop = gross.EchoesGarbled
