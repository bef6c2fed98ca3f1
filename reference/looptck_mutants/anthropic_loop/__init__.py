"""Mutants that break requirements of ``anthropic-loop``, one module for each family of steps."""

from __future__ import annotations

from looptck_mutants.collecting import defined_in

__all__ = ["MUTANTS"]

MUTANTS = defined_in(__name__, __path__)
