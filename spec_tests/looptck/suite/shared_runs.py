"""The runs that the checks of a case share, and which of them have been searched for requests that were refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from looptck.bench.cases import Case
from looptck.bench.checks import Check, Implementation
from looptck.bench.run import Run
from looptck.bench.standing import REFUSED, first_refused, refused
from looptck.cassettes import Cassette
from looptck.cassettes.playback import case_followed, set_scenario
from looptck.catalogue.requirements import Catalogue
from looptck.drivers import PROGRAM, DriverFault
from looptck.suite.choosing import judged_by
from looptck.values.cell import Cell
from looptck.values.framing import Framing
from looptck.values.verdicts import NotApplicable, Result

Key = tuple[str, Framing | None, Cell, str, int | None]
"""What makes a run: the name of the case or cassette, its encoding, the cell, the profile and the limit."""


@dataclass
class SharedRuns:
    """Each declared case and cassette is played once in a cell, for all the requirements that it is judged by."""

    catalogue: Catalogue
    kept: dict[Key, Run | Exception] = field(default_factory=dict)
    """Runs that a check still waits for, or what was raised instead of one."""
    _waiting: Counter[tuple[str, Cell]] = field(default_factory=Counter)
    """How many checks of a case in a cell have still to be judged."""
    _asked_about: frozenset[tuple[str, Cell]] = frozenset()
    """The cases and cells whose refused requests a separate check judges."""
    _searched: set[str] = field(default_factory=set)
    """The ids of the runs whose refused requests are reported already, or by a separate check."""

    def expect(self, checks: Iterable[Check]) -> None:
        """Keep runs until these checks have been judged."""
        self._waiting = Counter((one.case, one.cell) for one in checks)

    def ask_about(self, chosen: Iterable[Check]) -> None:
        """Leave to those of these checks that judge refused requests what they will report."""
        self._asked_about = frozenset(
            (check.case, check.cell) for check in chosen if check.requirement.judged_as == REFUSED
        )

    def run_of(self, played: Case | Cassette, implementation: Implementation, limit: int | None = None) -> Run:
        """The run of a declared case or a cassette in the cell of a check.

        ``limit``: the limit of the run, where the case sets none.
        """
        check = implementation.check
        encoding = played.encoding if isinstance(played, Cassette) else None
        key = (played.name, encoding, check.cell, check.requirement.profile, limit)
        if key not in self.kept:
            try:
                self.kept[key] = _run(played, implementation, limit)
            except (AssertionError, DriverFault, NotApplicable) as error:
                self.kept[key] = error
        found = self.kept[key]
        if isinstance(found, Exception):
            raise found
        if found not in implementation.runs:
            implementation.runs.append(found)
        if self._is_asked_about(played, check):
            self._searched.add(found.id)
        return found

    def over(self, check: Check) -> None:
        """A check has been judged: the runs that no other check of its case in its cell waits for are freed."""
        place = (check.case, check.cell)
        self._waiting[place] -= 1
        if self._waiting[place] == 0:
            for key in [key for key in self.kept if (key[0], key[2]) == place]:
                del self.kept[key]

    def notice(self, check: Check, runs: Sequence[Run]) -> tuple[Result, Run] | None:
        """A refused request in a check's runs, as an additional result; None: no request was refused.

        Each run is searched once, and not at all if a separate check judges its requests.
        """
        fresh = [run for run in runs if run.id not in self._searched]
        self._searched.update(run.id for run in fresh)
        found = first_refused(fresh)
        if found is None:
            return None
        run, reason = found
        row = self.catalogue[refused(check.requirement.profile)]
        return row.result(str(run.cell), check.case, "fail", reason), run

    def _is_asked_about(self, played: Case | Cassette, check: Check) -> bool:
        """Whether a separate check judges the refused requests of this run, or no check should.

        No check should if the cassette is judged by one requirement only: a loop may send back what it need not read.
        """
        if isinstance(played, Cassette) and judged_by(played) is not None:
            return True
        case = case_followed(played) if isinstance(played, Cassette) else played
        if case is None:
            return False
        if REFUSED not in case.checks:
            return True
        is_judged = check.requirement.profile in {self.catalogue[REFUSED].profile, PROGRAM}
        return is_judged and (played.name, check.cell) in self._asked_about


def _run(played: Case | Cassette, implementation: Implementation, limit: int | None) -> Run:
    if isinstance(played, Cassette):
        set_scenario(played, implementation.scenario)
        case = case_followed(played)
        if case is None:
            return implementation.run(played.question, limit=limit, tools=played.tools)
    else:
        case = played
        case.set(implementation.scenario)
    own = limit if case.limit is None else case.limit
    return implementation.run(case.question, limit=own, tools=case.tools, agent=case.agent)
