"""Broad mutants: faults that act in every run, to prove each case of the requirements that they break."""

from __future__ import annotations

from looptck_mutants import broad_faults
from looptck_mutants.core import limits
from looptck_mutants.parts import breaks

CELLS = ("*/*/sync",)


@breaks(
    "spec-binding-needs-its-input",
    "spec-bindings-are-injected",
    "spec-bindings-come-before-dispatch",
    "spec-calls-make-a-tool-round",
    cells=CELLS,
    broad=True,
)
class SpecHandsNothing(broad_faults.HandsNothing):
    """Runs every tool without arguments."""


@breaks(
    "spec-agent-by-path-or-value",
    "spec-kind-handler-is-the-fallback",
    "spec-result-is-the-values-text",
    "spec-single-child-calls-once",
    cells=CELLS,
    broad=True,
)
class SpecGarblesResults(broad_faults.GarblesResults):
    """Sends the same word as the result of every call."""


@breaks("spec-limit-counts-model-calls", cells=CELLS, broad=True)
class SpecOneTooMany(limits.OneTooMany):
    """Asks the model once more than its limit allows."""


@breaks("spec-limit-counts-model-calls", cells=CELLS, broad=True)
class SpecEachCallCounts(limits.EachCallCounts):
    """Counts each call of a round against its limit."""


@breaks("spec-injected-values-are-not-echoed", cells=CELLS, broad=True)
class SpecEchoesGarbled(broad_faults.EchoesGarbled):
    """Sends turns back with changed texts and arguments."""
