"""Mutants of the simulator: servers that run the loop themselves, with one fault each.

`looptck kill --profile server-loop` reads `MUTANTS`. They need the extra `server`.
"""

from __future__ import annotations

from looptck_mutants.collecting import defined_in

__all__ = ["MUTANTS"]

MUTANTS = defined_in(__name__, __path__)
