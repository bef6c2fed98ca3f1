"""Mutants that break requirements of ``prompty-agent-mode``, one module for each seam or family that they bend."""

from __future__ import annotations

from looptck_reference.mutants.gathering import defined_in
from looptck_reference.mutants.prompty_agent_mode import (
    coarse,
    endings,
    faults,
    histories,
    limits,
    loading,
    offering,
    running,
    streams,
)

MUTANTS = defined_in(loading, offering, endings, limits, running, faults, histories, streams, coarse)
