"""Mutants of the small program: programs with one fault each, most of them around a mutant of the loop.

`looptck kill --profile program` reads `MUTANTS`. Each run is a process of its own, so each mutant is judged only by the
checks of what it breaks, as a broad one is: what fails with it is known from the mutant of the loop.
"""

from __future__ import annotations

from looptck_mutants.collecting import defined_in

__all__ = ["MUTANTS"]

MUTANTS = defined_in(__name__, __path__)
"""The programs, in the order of their definition."""
