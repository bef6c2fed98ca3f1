"""Known failures: a file that says what is wrong today and why, and that goes stale loudly.

An entry is a requirement, a cell (``*`` stands for anything) and a reason. It holds for all cases of the requirement
in that cell together: while one of them fails the entry is alive; once all pass it is stale, and the run fails.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from looptck.catalogue import Catalogue, unknown
from looptck.cells import Cell
from looptck.data import fixture
from looptck.yamlfile import BadFile, load


@dataclass(frozen=True, slots=True)
class Known:
    """One entry."""

    requirement: str
    cell: str
    reason: str

    def covers(self, requirement: str, cell: Cell) -> bool:
        return requirement == self.requirement and cell.matches([self.cell])

    def __str__(self) -> str:
        return f"{self.requirement} in {self.cell}"


def read(path: Path, catalogue: Catalogue) -> list[Known]:
    """The entries of a file.

    Raises:
        BadFile: it breaks the schema, or names a requirement that does not exist.
    """
    entries = [Known(row["requirement"], row["cell"], row["reason"]) for row in load(path, SCHEMA) or []]
    ids = [requirement.id for requirement in catalogue]
    for entry in entries:
        if entry.requirement not in ids:
            raise BadFile(path, unknown("requirement", entry.requirement, ids))
    return entries


SCHEMA = fixture("known-failures.schema.json")
