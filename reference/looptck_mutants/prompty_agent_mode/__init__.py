"""Mutants that break requirements of ``prompty-agent-mode``, one module for each step or family of steps."""

from __future__ import annotations

from looptck_mutants.collecting import defined_in

__all__ = ["MUTANTS"]

MUTANTS = defined_in(__name__, __path__)
