"""Mutants: the reference with one seam broken on purpose, a folder for each profile whose requirements they break.

`looptck kill` reads `MUTANTS`. `mutant` says what one has to say of itself.
"""

from __future__ import annotations

from looptck_reference.mutants import anthropic_loop, core, prompty_agent_mode, prompty_spec
from looptck_reference.mutants.mutant import Mutant

__all__ = ["MUTANTS", "Mutant"]

MUTANTS: tuple[type[Mutant], ...] = (
    *core.MUTANTS,
    *prompty_spec.MUTANTS,
    *prompty_agent_mode.MUTANTS,
    *anthropic_loop.MUTANTS,
)
"""All of them, in the order of the profiles."""
