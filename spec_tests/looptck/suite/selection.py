"""Selection: which checks are selected for a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from looptck.catalogue.requirements import LEVELS, Catalogue, Requirement, fits, unknown
from looptck.catalogue.traits import PROFILE, traits
from looptck.drivers import Started
from looptck.values.cell import Cell
from looptck.values.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Selection:
    """An empty tuple selects everything; no profiles select ``core`` and every profile that the driver claims."""

    profiles: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    """Ids, in which ``*`` matches anything."""
    cells: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    """Names of cases, in which ``*`` matches anything."""
    level: str = "MAY"
    traits: tuple[str, ...] = ()
    """If not empty, only the requirements in `requirements` are judged."""

    def check(self, known: Catalogue) -> None:
        """Raises ValueError if the selection names something that does not exist."""
        try:
            known.matching(self.requirements)
        except KeyError as error:
            raise ValueError(error.args[0]) from None
        known.named(self.profiles)
        for id in self.traits:
            try:
                traits()[id]
            except KeyError as error:
                raise ValueError(error.args[0]) from None
        if self.level not in LEVELS:
            raise ValueError(unknown("level", self.level, list(LEVELS)))

    def takes(self, requirement: Requirement, cell: Cell, started: Started) -> bool:
        """Whether this check is selected for this implementation."""
        return (
            (not self.requirements or any(fits(requirement.id, one) for one in self.requirements))
            and self._asks_for(requirement, started)
            and (requirement.profile in started.profiles or not started.alone)
            and (not self.traits or self._narrow)
            and LEVELS.index(requirement.level) <= LEVELS.index(self.level)
            and (not self.cells or cell.matches(self.cells))
            and concerns(requirement, cell)
        )

    def names(self, case: str) -> bool:
        """Whether a case is selected."""
        return not self.cases or any(fits(case, pattern) for pattern in self.cases)

    def rows(self, known: Catalogue, cells: Sequence[Cell], started: Started) -> frozenset[str]:
        """The ids of the requirements that are selected in one of these cells."""
        return frozenset(row.id for row in known if any(self.takes(row, cell, started) for cell in cells))

    def _asks_for(self, requirement: Requirement, started: Started) -> bool:
        """Whether its profile is selected; or ``core`` is, it applies to any loop, and its needs are declared."""
        asked = self.profiles or started.claimed
        if requirement.profile in asked:
            return True
        elsewhere = requirement.anywhere and requirement.profile not in started.claimed
        return elsewhere and "core" in asked and all(map(started.can, requirement.needs))

    def asks(self, trait: str, cell: Cell, started: Started) -> bool:
        """Whether this implementation is asked about a trait in a cell: if all of ``core`` is judged, or by name."""
        if trait not in self.traits and (self.traits or self._narrow or self.level != LEVELS[-1]):
            return False
        of_core = bool(self.traits) or PROFILE in (self.profiles or started.claimed)
        return of_core and not started.alone and (not self.cells or cell.matches(self.cells))

    @property
    def is_narrow(self) -> bool:
        """Whether it names what is to be played, and not only where."""
        return self._narrow or bool(self.traits)

    @property
    def _narrow(self) -> bool:
        return bool(self.requirements or self.cases)


def concerns(requirement: Requirement, cell: Cell) -> bool:
    """Whether a requirement applies to a cell."""
    return requirement.streams in (None, cell.stream) and (not requirement.wires or cell.wire in requirement.wires)


def excused(requirement: Requirement, cell: Cell, started: Started) -> str | None:
    """Why a requirement is not for an implementation that follows another document, or declares that it does otherwise.

    None if it is for it too.
    """
    for one in requirement.otherwise:
        if started.follows(one.profile) and (not one.wires or cell.wire in one.wires):
            return f"the driver claims {one.profile}, whose document decides otherwise ({one.section})"
    for word, value in requirement.unless:
        if started.dialect.get(word) == value:
            return f'the driver declares dialect.{word} "{value}"'
    return None


def missing(requirement: Requirement, cell: Cell, started: Started) -> str | None:
    """The needed capability that the driver does not declare; None if nothing is missing."""
    needed: Iterable[str] = (cell.needs, *requirement.needs)
    for capability in needed:
        if not started.can(capability):
            return capability
    return None
