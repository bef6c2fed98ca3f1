"""``looptck kill``: runs the suite on every mutant."""

from __future__ import annotations

import json
import logging
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic

from looptck.bench.properties import Drawn, drawn
from looptck.catalogue.extras import NotInstalled, need
from looptck.catalogue.requirements import Catalogue, Requirement, catalogue
from looptck.commands.kill import mutants, proofs
from looptck.commands.kill.apart import Done, apart
from looptck.commands.kill.columns import Column
from looptck.commands.kill.matrix import Made, Matrix
from looptck.commands.kill.mutants import Mutant
from looptck.commands.kill.options import COLLECTIONS, MUTANTS, KillOptions, again
from looptck.commands.kill.passed import left, passed
from looptck.commands.kill.plan import Planned, cases_of, chosen, plan, sample
from looptck.commands.kill.playing import Played, play
from looptck.commands.kill.terminal import Terminal
from looptck.drivers import DriverFault, need_reference
from looptck.guard.folder import COULD_NOT_RUN
from looptck.report.console import could_not_run, output_console
from looptck.report.files import unwritable, write_all
from looptck.suite.options import CouldNotRun, Options
from looptck.suite.processes import cores, said
from looptck.suite.selection import Selection
from looptck.suite.session import Session
from looptck.suite.summary import kit_version
from looptck.values.plain import amount
from looptck.values.verdicts import AGAINST

PROVEN, FINDINGS = 0, 1
"""Exit statuses."""
SHARES = 3
"""The number of parts per worker into which the checks of the loop without a fault are divided."""


def kill(options: KillOptions, *, json_file: Path | None = None, html: Path | None = None, quiet: bool = False) -> int:
    """Make a matrix and print the report; returns the exit status."""
    console = output_console()
    began = monotonic()
    terminal: Terminal | None = None
    if (wrong := unwritable([json_file, html])) is not None:
        return could_not_run(console, wrong)
    try:
        if html:
            need("The page", "reference")
        making = Kill(options)
        terminal = Terminal(console, len(making.mutants), quiet=quiet)
        making.unharmed()
        columns: list[Column] = []
        for column in making.columns():
            columns.append(column)
            terminal.on_column(columns)
    except (CouldNotRun, DriverFault, NotInstalled) as error:
        if terminal is not None:
            terminal.close()
        return could_not_run(console, str(error))
    matrix = making.matrix(columns)
    texts = {json_file: json.dumps(matrix.serializable(), indent=1, ensure_ascii=False) + "\n"} if json_file else {}
    if html:
        from looptck.commands.kill.page import page

        texts[html] = page(matrix)
    terminal.finish(matrix, monotonic() - began)
    if write_all(texts, console):
        return COULD_NOT_RUN
    return FINDINGS if matrix.complaints else PROVEN


def write_proofs(path: Path) -> int:
    """Write which mutants of the references must fail each requirement; returns the exit status."""
    rows = catalogue()
    try:
        every = [one for kept in (MUTANTS, *COLLECTIONS.values()) for one in mutants.read(kept, rows)]
    except mutants.BadMutant as error:
        return could_not_run(output_console(), str(error))
    proofs.write(every, path)
    return PROVEN


class Kill:
    """A matrix in the making.

    Raises:
        CouldNotRun: the mutants cannot be read, or the loop without a fault fails.
        NotInstalled: the reference is needed, and its extra is missing.
    """

    def __init__(self, wanted: KillOptions) -> None:
        self.catalogue: Catalogue = catalogue()
        need_reference(wanted.collection)
        try:
            requirements = self.catalogue.matching(wanted.requirements)
            profiles = wanted.profiles or tuple(dict.fromkeys(self.catalogue[id].profile for id in requirements))
            wanted = replace(wanted, profiles=profiles, requirements=tuple(requirements))
            self.catalogue.named(wanted.profiles)
            every = mutants.read(wanted.collection, self.catalogue)
            named = mutants.named(every, wanted.names)
        except (mutants.BadMutant, ValueError) as error:
            raise CouldNotRun(str(error)) from error
        except KeyError as error:
            raise CouldNotRun(error.args[0]) from None
        self._wanted = wanted
        self.mutants = [
            one
            for one in named
            if (not wanted.profiles or one.profile in wanted.profiles)
            and (not wanted.requirements or {*one.breaks}.intersection(wanted.requirements))
        ]
        if not self.mutants:
            raise CouldNotRun("nothing was selected: no mutant was judged, so nothing was proven")
        self._session = self._begin()
        self._seconds: dict[int, float] = {}
        """How long each check took with the loop without a fault."""
        self._plan = plan(self._session)
        self._by_row: dict[str, list[Planned]] = defaultdict(list)
        """The plan by requirement."""
        for one in self._plan:
            self._by_row[one.check.requirement.id].append(one)

    @property
    def workers(self) -> int:
        """The number of parallel processes: two for each core, since many checks wait at times."""
        return self._wanted.workers or 2 * (said() or cores())

    @property
    def narrowed(self) -> bool:
        """Whether some mutants were left out, so that the requirements cannot be judged as a whole."""
        return bool(self._wanted.names or self._wanted.requirements)

    def unharmed(self) -> int:
        """Judge the loop without a fault; returns how many checks it passed now, beside those of an earlier run.

        Raises:
            CouldNotRun: it does not pass all of them, so a mutant that fails one proves nothing.
        """
        checks = left(self._checks_of_all(), passed(self._wanted.passed, self._session.bench))
        share = -(-len(checks) // (SHARES * self.workers)) or 1
        parts = [tuple(checks[first : first + share]) for first in range(0, len(checks), share)]
        faults: list[Played] = []
        for done in apart(self._unharmed, parts, workers=self.workers, seconds=self._wanted.seconds):
            if done.value is None:
                raise CouldNotRun(f"the loop without a fault: {done.trouble}")
            played, values = done.value
            faults += [one for one in played if one.result.verdict in {*AGAINST, "error"}]
            self._seconds.update({one.number: one.seconds for one in played})
            drawn.update(values)
        if faults:
            result = min(faults, key=lambda one: one.number).result
            where = f"{result.requirement} [{result.cell}] {result.case}"
            raise CouldNotRun(f"the loop without a fault fails: {where}: {result.verdict}: {result.reason}")
        return len(checks)

    def _unharmed(self, checks: Sequence[Planned]) -> tuple[list[Played], Drawn]:
        """The verdicts of the loop without a fault, and the values of its properties, which the mutants reuse."""
        return self._played(self._wanted.loop, checks), drawn

    def _played(self, driver: str, checks: Sequence[Planned], *, whole: bool = True) -> list[Played]:
        logging.lastResort = logging.NullHandler()  # hides the log output of implementations
        return [*play(self._session, driver, checks, whole=whole)]

    def columns(self) -> Iterator[Column]:
        """The mutants as they are judged; those whose checks take longest begin first, also where they wait in vain."""
        tasks = sorted(self.mutants, key=self._seconds_of, reverse=True)
        for done in apart(self._judged, tasks, workers=self.workers, seconds=self._wanted.seconds):
            yield self._column(done)

    def _seconds_of(self, mutant: Mutant) -> float:
        """The seconds that a mutant may take: those of its checks without a fault, and half a wait for each of them."""
        checks = self.checks(mutant)
        return sum(self._seconds.get(one.number, 0.0) for one in checks) + len(checks) * self._wanted.waits.outcome / 2

    def matrix(self, columns: Sequence[Column]) -> Matrix:
        order = [mutant.name for mutant in self.mutants]
        rows = [] if self.narrowed else self._rows()
        return Matrix(
            sorted(columns, key=lambda one: order.index(one.mutant.name)),
            rows,
            self._made(),
            proofs.disagreements(self.mutants, rows) if self._wanted.mutants is None else [],
            {} if self._wanted.own else cases_of(self._plan),
        )

    def _made(self) -> Made:
        started = self._session.bench.started
        return Made(
            driver=self._session.bench.driver,
            implementation=f"{started.name} {started.version}",
            mutants=self._wanted.collection,
            again=again(self._wanted),
            kit=kit_version(),
            full=self._wanted.full,
            own=self._wanted.own,
        )

    def checks(self, mutant: Mutant) -> list[Planned]:
        """The checks that judge a mutant: in its cells, all of the declared requirements and some of the others."""
        if self._is_own(mutant):
            planned = sorted((one for id in mutant.breaks for one in self._by_row[id]), key=lambda one: one.number)
            return chosen(planned, profile=mutant.profile, cells=self._cells(mutant))
        every = chosen(self._plan, profile=mutant.profile, cells=self._cells(mutant))
        if self._wanted.full or self._wanted.cells:
            return every
        return sample(every, {*mutant.breaks, *mutant.collateral})

    def _is_own(self, mutant: Mutant) -> bool:
        """Whether a mutant is judged only by the checks of what it breaks."""
        return self._wanted.own or mutant.broad

    def _cells(self, mutant: Mutant) -> tuple[str, ...]:
        return ("*",) if self._wanted.full else self._wanted.cells or mutant.cells

    def _checks_of_all(self) -> list[Planned]:
        """Every check that judges at least one mutant."""
        numbers = {planned.number for mutant in self.mutants for planned in self.checks(mutant)}
        return [planned for planned in self._plan if planned.number in numbers]

    def _judged(self, mutant: Mutant) -> list[Played]:
        warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)  # the fault of some mutants
        played = self._played(mutant.driver, self.checks(mutant), whole=not self._wanted.own)
        usual = {"pass", "divergence"}
        return [one for one in played if one.result.verdict not in usual or one.result.requirement in mutant.breaks]

    def _column(self, done: Done[Mutant, list[Played]]) -> Column:
        played, trouble = done.value or [], done.trouble
        faults = [one.result for one in played if one.result.verdict == "error"]
        if faults and not trouble:
            first = f"{faults[0].requirement}: {faults[0].reason}"
            trouble = f"{amount(len(faults), 'check')} could not be judged; the first: {first}"
        cells = self._cells(done.task)
        checks = len(played if self._wanted.own else self.checks(done.task))
        return Column(done.task, played, trouble, self._wanted.full, cells, checks, self._is_own(done.task))

    def _rows(self) -> list[Requirement]:
        """The requirements that need a mutant: of the selected profiles, else of all that the loop claims."""
        profiles = self._wanted.profiles or self._session.bench.started.claimed
        return [row for row in self.catalogue if row.profile in profiles and row.excluded is None]

    def _begin(self) -> Session:
        wanted = self._wanted
        cells = tuple({cell for mutant in self.mutants for cell in self._cells(mutant)})
        profiles = tuple({mutant.profile for mutant in self.mutants})
        return Session.begin(
            Options(
                driver=wanted.loop,
                selection=Selection(profiles=profiles, cells=cells),
                patience=wanted.waits,
                examples=wanted.examples,
                cassettes=wanted.cassettes,
                asks=False,
            )
        )
