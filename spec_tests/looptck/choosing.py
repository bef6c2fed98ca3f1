"""Choosing: the checks that there are for an implementation, of all that were selected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from looptck.cases import cases
from looptck.cassettes import Cassette
from looptck.cassettes.dialects import spoken
from looptck.cassettes.scenario import kept_case
from looptck.catalogue import Catalogue
from looptck.cells import Cell
from looptck.checks import Check
from looptck.drivers import Started
from looptck.selection import Selection

RECORDED = "recorded-traffic-is-read-right"
"""The requirement that is judged on every cassette which any loop can play."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What is chosen for an implementation: the checks of each test function, in its cells."""

    catalogue: Catalogue
    selection: Selection
    cassettes: tuple[Cassette, ...]
    started: Started
    cells: Sequence[Cell]
    """All in which the implementation can be judged."""

    def checks(self, requirement: str, case: str) -> list[Check]:
        """The checks of a test function: one for each cell that was asked for."""
        row = self.catalogue[requirement]
        taken = (cell for cell in self.cells if self.selection.takes(row, cell, self.started))
        return [Check(row, cell, case) for cell in taken]

    def declared_checks(self) -> list[Check]:
        """The checks of all declared cases, and of their recordings, where the model kept to the script."""
        scripted = [
            check
            for case in cases().values()
            for id in case.checks
            for check in self.checks(id, case.name)
            if case.fits(check.cell)
        ]
        kept = ((cassette, kept_case(cassette)) for cassette in self.cassettes if judged_by(cassette) is None)
        recorded = [
            check
            for cassette, case in kept
            if case is not None
            for id in case.checks
            for check in self.checks(id, cassette.name)
            if cassette.fits(check.cell) and case.fits(check.cell)
        ]
        return scripted + recorded

    def recorded_checks(self, requirement: str, takes: Callable[[Cassette], bool]) -> list[Check]:
        """The checks of a test function that plays cassettes: one for each that it takes, in its cells.

        Where one requirement alone is judged on a cassette, it stands for the general one.
        """
        return [
            check
            for cassette in self.cassettes
            for by in [judged_by(cassette)]
            if takes(cassette) and (by is None or requirement == RECORDED)
            for check in self.checks(by or requirement, cassette.name)
            if cassette.fits(check.cell)
        ]


def judged_by(cassette: Cassette) -> str | None:
    """The one requirement that is judged on a cassette; None: all that fit."""
    known = spoken(cassette)
    return known.requirement(cassette.wire, cassette.scenario, stream=cassette.stream) if known else None
