"""Mutants that break requirements of ``anthropic-loop``, one module for each family of seams that they bend."""

from __future__ import annotations

from looptck_reference.mutants.anthropic_loop import (
    calls,
    coarse,
    early,
    errors,
    inputs,
    mcp,
    pruning,
    requests,
    results,
    stops,
    turns,
)
from looptck_reference.mutants.gathering import defined_in

MUTANTS = defined_in(stops, turns, calls, results, requests, errors, inputs, early, mcp, pruning, coarse)
