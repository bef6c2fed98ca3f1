"""Known failures: a file with today's failures and their reasons. A stale entry fails the run.

An entry has a requirement, a cell (``*`` matches anything), a reason, and optionally a case (a pattern too). It covers
all cases of the requirement in that cell, or those that it names: the entry is valid while one of them fails, and stale
once all of them pass.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from looptck.catalogue.data import fixture
from looptck.catalogue.requirements import Catalogue, unknown
from looptck.catalogue.yaml_files import BadFile, load
from looptck.values.cell import Cell


@dataclass(frozen=True, slots=True)
class Known:
    """One entry."""

    requirement: str
    cell: str
    reason: str
    case: str | None = None
    """None: all cases."""
    sometimes: bool = False
    """Whether it also passes at times: then a pass does not make the entry stale."""

    def covers(self, requirement: str, cell: Cell, case: str) -> bool:
        """Whether the entry covers a check."""
        return self.concerns(requirement, cell) and self.names(case)

    def concerns(self, requirement: str, cell: Cell) -> bool:
        """Whether the entry covers any check of a requirement in a cell."""
        return requirement == self.requirement and cell.matches([self.cell])

    def names(self, case: str) -> bool:
        """Whether the entry covers a case. Only ``*`` is special: case names may contain other pattern characters."""
        if self.case is None:
            return True
        return re.fullmatch(".*".join(map(re.escape, self.case.split("*"))), case, re.DOTALL) is not None

    def __str__(self) -> str:
        return f"{self.requirement} in {self.cell}" + (f", case {self.case}" if self.case else "")


def read(path: Path, catalogue: Catalogue) -> list[Known]:
    """The entries of a file.

    Raises:
        BadFile: the file breaks the schema, or names a requirement that does not exist.
    """
    rows = load(path, SCHEMA) or []
    entries = [Known(**row) for row in rows]
    ids = [requirement.id for requirement in catalogue]
    for entry in entries:
        if entry.requirement not in ids:
            raise BadFile(path, unknown("requirement", entry.requirement, ids))
    return entries


SCHEMA = fixture("known-failures.schema.json")
