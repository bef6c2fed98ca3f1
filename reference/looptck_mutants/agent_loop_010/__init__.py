"""Mutants of the 010 loop: Requests, Calls and Solutions with one fault each.

`looptck kill --profile agent-loop-010` reads `MUTANTS`.
"""

from __future__ import annotations

from looptck_mutants.collecting import defined_in

__all__ = ["MUTANTS"]

MUTANTS = defined_in(__name__, __path__)
