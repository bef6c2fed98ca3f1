"""The reference's mutants: each says in its first line what it does wrong and which requirements it breaks."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest

from looptck.catalogue import catalogue
from looptck.kill import command
from looptck.kill.mutants import disagreements, read
from looptck_reference.mutants import MUTANTS, Mutant, agent_loop_010, server_loop

EVERY: list[Any] = [*MUTANTS, *server_loop.MUTANTS, *agent_loop_010.MUTANTS]
FINE = [mutant for mutant in EVERY if not mutant.coarse]


@pytest.mark.parametrize("mutant", FINE, ids=lambda mutant: mutant.__name__)
def test_first_line_names_what_is_broken(mutant: type[Mutant]) -> None:
    """The ids stand in it as in the list that it must fail, and nothing else does."""
    first = inspect.getdoc(mutant)

    assert first is not None
    assert [*mutant.breaks] == re.findall("`([a-z0-9-]+-[a-z0-9-]+)`", first.partition("\n\n")[0])


def test_catalogue_agrees() -> None:
    """`killed_by` is the other direction of what the mutants say."""
    rows = catalogue()
    collections = (command.MUTANTS, *command.COLLECTIONS.values())
    every = [mutant for collection in collections for mutant in read(collection, rows)]

    assert [] == disagreements(every, rows)


def test_every_requirement_has_a_mutant() -> None:
    """Where none is possible, the catalogue says why."""
    rows = [row for row in catalogue() if row.excluded is None and catalogue().profiles[row.profile].finished]

    assert [] == [row.id for row in rows if not row.killed_by and not row.no_mutant]
