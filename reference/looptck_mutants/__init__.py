"""Mutants: the reference with one step broken on purpose, in one folder for each profile whose requirements they break.

`looptck kill` reads `MUTANTS`. The module `breaking` describes how a mutant is declared.
"""

from __future__ import annotations

from typing import Any

from looptck_mutants import anthropic_loop, core, prompty_agent_mode, prompty_spec

__all__ = ["MUTANTS"]

MUTANTS: tuple[type[Any], ...] = (
    *core.MUTANTS,
    *prompty_spec.MUTANTS,
    *prompty_agent_mode.MUTANTS,
    *anthropic_loop.MUTANTS,
)
"""The drivers of all mutants, in the order of the profiles."""
