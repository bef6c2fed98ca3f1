"""The record of a run: its verdicts, the details of those that count against the implementation, and its answers.

A session writes it while it plays; reports read it. The records of the parts of a run, which were played by several
processes or on several machines, are put together into that of the whole (see ``parts``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from looptck.catalogue.known_failures import Known
from looptck.catalogue.requirements import Catalogue
from looptck.catalogue.traits import Answer, traits
from looptck.drivers import DriverFault, Started
from looptck.drivers.cells import cells
from looptck.failures.groups import Finding
from looptck.suite.selection import Selection
from looptck.suite.units import Shard
from looptck.values.cell import Cell
from looptck.values.spent import Spent
from looptck.values.verdicts import Result
from looptck.wires import WIRES

Names = tuple[str, str, str]
"""The names of a check's requirement, cell and case."""


@dataclass(slots=True)
class Record:
    """What a run has come to."""

    driver: str
    started: Started
    catalogue: Catalogue
    selection: Selection
    known: Sequence[Known] = ()
    given: Sequence[str] = ()
    """The options of the run, which the command in each failure report repeats."""
    results: list[Result] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    """The details of each verdict that counts against the implementation."""
    answers: list[Answer] = field(default_factory=list)
    """The answers to the questions about traits."""
    faults: list[DriverFault] = field(default_factory=list)
    """The faults of the driver outside of its runs."""
    checks: int = 0
    """How many checks were chosen."""
    questions: int = 0
    """How many questions about traits were chosen."""
    judged: int = 0
    """How many checks have a verdict."""
    has_lost: bool = False
    """Whether one of the processes that played has ended before its time."""
    offered: Sequence[str] = ()
    """The cases of the checks before the selection by case."""
    thorough: bool = True
    """Whether everything was to be played (see `Options.thorough`)."""
    left_out: list[Names] = field(default_factory=list)
    """What only a thorough run plays."""
    sampled: list[Names] = field(default_factory=list)
    """The checks that have tried fewer examples than a thorough run."""
    shard: Shard | None = None
    """Which part of the run this is; None: the whole."""
    spent: Spent = field(default_factory=Spent)
    """Where the time went."""
    listeners: list[Callable[[Result], None]] = field(default_factory=list)
    """Called with each new result."""

    def add(self, result: Result, *, noticed: bool = False) -> None:
        """Add a verdict; ``noticed``: it is in addition to the verdict of a check."""
        self.judged += result.verdict != "divergence" and not noticed
        self.results.append(result)
        for listener in self.listeners:
            listener(result)

    def put_in_order(self) -> None:
        """Order everything as one process would have played it, whoever has."""
        self.results.sort(key=lambda one: one.place)
        places = {id(result): place for place, result in enumerate(self.results)}
        self.findings.sort(key=lambda one: places[id(one.result)])
        of_trait = {trait.id: place for place, trait in enumerate(traits())}
        of_cell = {str(cell): place for place, cell in enumerate(self.cells())}
        self.answers.sort(key=lambda one: (of_trait[one.trait], of_cell[one.cell]))

    def cells(self) -> list[Cell]:
        """All cells in which the implementation can be judged."""
        return cells(self.started, WIRES)

    @property
    def has_all(self) -> bool:
        """Whether every check that was chosen has a verdict."""
        return self.judged >= self.checks

    def known_for(self, requirement: str, cell: Cell, case: str, message: str | None = None) -> Known | None:
        """The known failure that covers a check, or its failure with this message."""
        return next((entry for entry in self.known if entry.covers(requirement, cell, case, message)), None)

    def known_of(self, one: Result) -> Known | None:
        """The known failure that covers a result; none covers an error, which is no verdict on the implementation."""
        if one.verdict == "error":
            return None
        return self.known_for(one.requirement, Cell.parse(one.cell), one.case, one.reason)

    def judges_all_of(self, entry: Known) -> bool:
        """Whether this run judges every check that a known failure covers: only then can the entry be stale.

        A requirement may also be noticed to fail in a check of another one, so what was left out of a case that the
        entry names counts whatever its requirement is.
        """
        if self.shard is not None:
            return False
        for requirement, cell, case in (*self.left_out, *self.sampled):
            place = Cell.parse(cell)
            noticed = entry.case is not None and entry.names(case) and place.matches([entry.cell])
            if noticed or entry.covers(requirement, place, case):
                return False
        wanted = self.selection.cells
        covered = [cell for cell in self.cells() if entry.concerns(entry.requirement, cell)]
        named = not self.selection.cases or (entry.case is not None and self.selection.names(entry.case))
        return named and (not wanted or all(cell.matches(wanted) for cell in covered))
