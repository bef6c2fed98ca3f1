"""Known failures: a file with today's failures and their reasons. A stale entry fails the run.

An entry has a requirement or several, a cell (``*`` matches anything), a reason, and optionally a case (a pattern too).
It covers all cases of the requirement in that cell, or those that it names: the entry is valid while one of them fails,
and stale once all of them pass. An entry with ``because`` covers those failures alone whose message fits that pattern.
"""

from __future__ import annotations

from pathlib import Path

from looptck.catalogue.data import fixture
from looptck.catalogue.requirements import Catalogue, fits, unknown
from looptck.catalogue.yaml_files import BadFile, load
from looptck.values.cell import Cell
from looptck.values.frozen import dataclass

FORM = "write a list of entries, each with `requirement`, `cell` and a `reason` (docs/ci.md)"
ANY = "*"
"""Any requirement, in an entry with `because`."""


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
    because: str | None = None
    """A pattern of the message of a failure. None: whatever it is."""

    def covers(self, requirement: str, cell: Cell, case: str, message: str | None = None) -> bool:
        """Whether the entry covers a check, or its failure with this message."""
        said = message is None or self.because is None or fits(message, self.because)
        return said and self.concerns(requirement, cell) and self.names(case)

    def concerns(self, requirement: str, cell: Cell) -> bool:
        """Whether the entry covers any check of a requirement in a cell."""
        return self.requirement in {requirement, ANY} and cell.matches([self.cell])

    def names(self, case: str) -> bool:
        """Whether the entry covers a case."""
        return self.case is None or fits(case, self.case)

    def __str__(self) -> str:
        return f"{self.requirement} in {self.cell}" + (f", case {self.case}" if self.case else "")


def read(path: Path, catalogue: Catalogue) -> list[Known]:
    """The entries of a file.

    Raises:
        BadFile: the file breaks the schema, or names a requirement that does not exist.
    """
    try:
        rows = load(path, SCHEMA, given=True) or []
    except BadFile as error:
        raise BadFile(path, f"{error.what}; {FORM}" if error.what.startswith("/") else error.what) from error
    entries = [Known(**{**row, "requirement": one}) for row in rows for one in _several(row["requirement"])]
    ids = [requirement.id for requirement in catalogue]
    for entry in entries:
        if entry.requirement not in {*ids, ANY}:
            raise BadFile(path, unknown("requirement", entry.requirement, ids))
    return entries


def _several(requirement: str | list[str]) -> list[str]:
    return [requirement] if isinstance(requirement, str) else requirement


SCHEMA = fixture("known-failures.schema.json")
