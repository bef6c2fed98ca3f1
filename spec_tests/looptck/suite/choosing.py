"""Choosing: which of the selected checks exist for an implementation."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import field

from looptck.bench.cases import cases
from looptck.bench.checks import Check
from looptck.cassettes import Cassette
from looptck.cassettes.deviations import all_deviations, deviations_of
from looptck.cassettes.playback import case_followed
from looptck.catalogue.requirements import Catalogue, Requirement
from looptck.drivers import Started
from looptck.suite.selection import Selection
from looptck.values.cell import Cell
from looptck.values.frozen import dataclass

RECORDED = "recorded-traffic-is-read-right"
"""The requirement that is judged on every cassette that any loop can play."""
PLAYING_ALL = frozenset({RECORDED, "framing-does-not-matter"})
"""The requirements of ``spec/test_cassettes.py``, which are judged on cassettes of any scenario."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The checks for an implementation: those of each test function and declared case, in its cells."""

    catalogue: Catalogue
    selection: Selection
    cassettes: tuple[Cassette, ...]
    started: Started
    cells: Sequence[Cell]
    """All cells in which the implementation can be judged."""
    rows: frozenset[str] = field(init=False)
    """The ids of the selected requirements."""
    _cells_of: Mapping[str, Sequence[Cell]] = field(init=False)
    """The cells in which each of them is selected."""

    def __post_init__(self) -> None:
        taken = {
            row.id: [cell for cell in self.cells if self.selection.takes(row, cell, self.started)]
            for row in self.catalogue
        }
        object.__setattr__(self, "_cells_of", {id: cells for id, cells in taken.items() if cells})
        object.__setattr__(self, "rows", frozenset(self._cells_of))

    @property
    def named(self) -> frozenset[str]:
        """The ids by which tests and cases name the selected requirements."""
        return frozenset(self.catalogue[id].judged_as for id in self.rows)

    def checks(self, requirements: Iterable[str], case: str) -> list[Check]:
        """The checks of a test function or a declared case: one for each selected requirement and cell."""
        return [
            Check(row, cell, case)
            for row in self._judged_as(requirements)
            if row.plays(case) or row.plays_a_variant(case)
            for cell in self._cells_of.get(row.id, ())
        ]

    def _judged_as(self, requirements: Iterable[str]) -> Iterator[Requirement]:
        """These requirements, and the rows of other profiles that stand for them."""
        for id in requirements:
            yield self.catalogue[id]
            yield from self.catalogue.standing_for(id)

    def declared_checks(self) -> list[Check]:
        """The checks of all declared cases, and of those recordings in which the model followed the script."""
        scripted = [
            check
            for case in cases().checking(self.named)
            for check in self.checks(case.checks, case.name)
            if case.fits(check.cell)
        ]
        kept = ((cassette, case_followed(cassette)) for cassette in self.cassettes if judged_by(cassette) is None)
        recorded = [
            check
            for cassette, case in kept
            if case is not None
            for check in self.checks(case.checks, cassette.name)
            if cassette.fits(check.cell) and case.fits(check.cell) and check.requirement.stands_for is None
        ]
        return scripted + recorded

    def recorded_checks(self, requirements: Sequence[str], takes: Callable[[Cassette], bool]) -> list[Check]:
        """The checks of a test function that plays cassettes: for each cassette that it takes, in the cassette's cells.

        If a cassette is judged by one requirement only, that one replaces `RECORDED`.
        """
        return [
            check
            for cassette in self.cassettes
            for by in [judged_by(cassette)]
            if takes(cassette) and (by is None or RECORDED in requirements)
            for check in self.checks([by] if by else requirements, cassette.name)
            if cassette.fits(check.cell) and check.requirement.stands_for is None
        ]


def scenarios_needed(rows: frozenset[str]) -> Container[str] | None:
    """The scenarios whose recordings these requirements may be judged on; None: all."""
    own = {one.requirement for server in all_deviations() for one in server.judged_by}
    if rows & {*own, *PLAYING_ALL}:
        return None
    return {case.name for case in cases().checking(rows)}


def judged_by(cassette: Cassette) -> str | None:
    """The only requirement that a cassette is judged by; None: all that fit."""
    known = deviations_of(cassette)
    return known.requirement(cassette.wire, cassette.scenario, stream=cassette.stream) if known else None
