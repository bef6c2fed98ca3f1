"""Selection: which checks a run is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from looptck.catalogue import LEVELS, Catalogue, Requirement, unknown
from looptck.cells import Cell
from looptck.drivers import Started


@dataclass(frozen=True, slots=True)
class Selection:
    """Empty means: all. Profiles empty means: ``core`` and every profile that the implementation claims."""

    profiles: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    level: str = "MAY"

    def check(self, known: Catalogue) -> None:
        """Raises ValueError where it names something that does not exist."""
        for id in self.requirements:
            try:
                known[id]
            except KeyError as error:
                raise ValueError(error.args[0]) from None
        for profile in self.profiles:
            if profile not in known.profiles:
                raise ValueError(unknown("profile", profile, list(known.profiles)))
        if self.level not in LEVELS:
            raise ValueError(unknown("level", self.level, list(LEVELS)))

    def takes(self, requirement: Requirement, cell: Cell, started: Started) -> bool:
        """Whether this check was asked for, of this implementation."""
        return (
            requirement.profile in (self.profiles or started.claimed)
            and (requirement.profile in started.profiles or not started.alone)
            and (not self.requirements or requirement.id in self.requirements)
            and LEVELS.index(requirement.level) <= LEVELS.index(self.level)
            and (not self.cells or cell.matches(self.cells))
            and concerns(requirement, cell)
        )


def concerns(requirement: Requirement, cell: Cell) -> bool:
    """Whether a requirement says anything about a cell."""
    return requirement.streams in (None, cell.stream) and (not requirement.wires or cell.wire in requirement.wires)


def missing(requirement: Requirement, cell: Cell, started: Started) -> str | None:
    """The capability that is declared absent and needed; None if nothing is missing."""
    needed: Iterable[str] = (cell.needs, *requirement.needs)
    for capability in needed:
        if not started.can(capability):
            return capability
    return None
