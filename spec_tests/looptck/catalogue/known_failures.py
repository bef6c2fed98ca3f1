"""Known failures: a file that says what is wrong today and why, and that goes stale loudly.

An entry is a requirement, a cell (``*`` stands for anything) and a reason, and it may name a case in the same way. It
holds for all cases of the requirement in that cell together, or for those that it names: while one of them fails the
entry is alive; once all pass it is stale, and the run fails.
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

    def covers(self, requirement: str, cell: Cell, case: str) -> bool:
        """Whether it is about a check."""
        return self.concerns(requirement, cell) and self.names(case)

    def concerns(self, requirement: str, cell: Cell) -> bool:
        """Whether it is about any check of a requirement in a cell."""
        return requirement == self.requirement and cell.matches([self.cell])

    def names(self, case: str) -> bool:
        """Whether a case is among its own: of all characters only ``*`` is special, for names of cases hold others."""
        if self.case is None:
            return True
        return re.fullmatch(".*".join(map(re.escape, self.case.split("*"))), case, re.DOTALL) is not None

    def __str__(self) -> str:
        return f"{self.requirement} in {self.cell}" + (f", case {self.case}" if self.case else "")


def read(path: Path, catalogue: Catalogue) -> list[Known]:
    """The entries of a file.

    Raises:
        BadFile: it breaks the schema, or names a requirement that does not exist.
    """
    rows = load(path, SCHEMA) or []
    entries = [Known(row["requirement"], row["cell"], row["reason"], row.get("case")) for row in rows]
    ids = [requirement.id for requirement in catalogue]
    for entry in entries:
        if entry.requirement not in ids:
            raise BadFile(path, unknown("requirement", entry.requirement, ids))
    return entries


SCHEMA = fixture("known-failures.schema.json")
