"""Mutants that break requirements of ``core``, one module for each step."""

from __future__ import annotations

from looptck_mutants.collecting import defined_in

__all__ = ["MUTANTS"]

MUTANTS = defined_in(__name__, __path__)
