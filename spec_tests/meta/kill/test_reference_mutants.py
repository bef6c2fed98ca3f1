"""The reference's mutants: each states its fault, and the catalogue's proofs are generated from them."""

from __future__ import annotations

import inspect
from typing import Any

from looptck.catalogue.requirements import catalogue
from looptck_mutants import MUTANTS, agent_loop_010, server_loop
from meta.kit.each import each

EVERY: list[type[Any]] = [*MUTANTS, *server_loop.MUTANTS, *agent_loop_010.MUTANTS]


def test_first_line_states_the_fault() -> None:
    """It is a sentence; what the fault breaks is said by the decorator alone."""

    def states_it(mutant: type[Any]) -> None:
        first = (inspect.getdoc(mutant) or "").partition("\n\n")[0]

        assert first.endswith(".")
        assert not [id for id in mutant.breaks if id in first]

    each({f"{mutant.__module__}.{mutant.__name__}": (mutant,) for mutant in EVERY}, states_it)


def test_every_requirement_has_a_mutant() -> None:
    """Where none is possible, the catalogue says why."""
    rows = [row for row in catalogue() if row.excluded is None and catalogue().profiles[row.profile].finished]

    assert [] == [row.id for row in rows if not row.killed_by and not row.no_mutant]
