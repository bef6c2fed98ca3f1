"""Mutants of the 010 loop: Requests, Calls and Solutions with one fault each.

`looptck kill --profile agent-loop-010` reads `MUTANTS`.
"""

from __future__ import annotations

from looptck_reference.mutants.agent_loop_010 import (
    confirmation,
    errors,
    latent,
    liveness,
    orchestration,
    outputs,
    paths,
    plans,
    schedules,
    state,
    streams,
    turns,
    values,
)
from looptck_reference.mutants.agent_loop_010.mutant import SolutionMutant
from looptck_reference.mutants.gathering import defined_in

__all__ = ["MUTANTS", "SolutionMutant"]

MUTANTS: tuple[type[SolutionMutant], ...] = defined_in(
    turns,
    outputs,
    streams,
    orchestration,
    values,
    state,
    latent,
    paths,
    errors,
    liveness,
    confirmation,
    plans,
    schedules,
)
"""All of them, by the seam that is broken."""
