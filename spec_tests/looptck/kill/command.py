"""``looptck kill``: runs the suite on every mutant."""

from __future__ import annotations

import json
import logging
import shlex
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic

from looptck.bench.bench import Patience
from looptck.bench.checks import Drawn, drawn
from looptck.catalogue.extras import NotInstalled, need
from looptck.catalogue.requirements import Catalogue, Requirement, catalogue, unknown
from looptck.drivers import PROGRAM_OF_REFERENCE, SERVER, SOLUTIONS, DriverFault, need_reference, reference
from looptck.guard.folder import COULD_NOT_RUN
from looptck.kill import mutants, proofs
from looptck.kill.apart import Done, apart
from looptck.kill.columns import Column
from looptck.kill.matrix import Made, Matrix
from looptck.kill.mutants import Mutant
from looptck.kill.plan import Planned, cases_of, chosen, plan, sample
from looptck.kill.playing import Played, play
from looptck.kill.terminal import Terminal
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
MUTANTS = "python:looptck_mutants:MUTANTS"
SERVER_MUTANTS = "python:looptck_mutants.server_loop:MUTANTS"
SOLUTION_MUTANTS = "python:looptck_mutants.agent_loop_010:MUTANTS"
PROGRAM_MUTANTS = "python:looptck_mutants.program:MUTANTS"
COLLECTIONS = {SERVER: SERVER_MUTANTS, SOLUTIONS: SOLUTION_MUTANTS, PROGRAM_OF_REFERENCE: PROGRAM_MUTANTS}
"""The mutants of the other references, by reference; those of the usual one are `MUTANTS`."""


@dataclass(frozen=True, slots=True)
class KillOptions:
    """The options of a kill matrix."""

    driver: str | None = None
    """The loop without a fault; None: the reference."""
    mutants: str | None = None
    """The collection of its mutants; None: those of the reference."""
    names: tuple[str, ...] = ()
    """Only these mutants."""
    requirements: tuple[str, ...] = ()
    """Only mutants that break one of these requirements."""
    profiles: tuple[str, ...] = ()
    """Only mutants of these profiles; none: the profiles of `requirements`, or all."""
    cells: tuple[str, ...] = ()
    """The cells in which mutants are judged; none: those that each mutant declares."""
    full: bool = False
    """Judge in every cell; then everything that a mutant declares must fail."""
    own: bool = False
    """Judge each mutant only by the checks of what it breaks; its collateral stays unknown."""
    examples: int = 1
    """Examples per property; one is always the simplest example, so the result does not depend on chance."""
    timeout: float | None = None
    """Seconds without an event after which a run has hung; None: 10, or 30 for servers with hundreds of clients."""
    patience: float = 3.0
    """Seconds that a gate waits."""
    workers: int | None = None
    """Mutants judged in parallel; None: two for each core."""
    seconds: float = 600.0
    """The time limit for one mutant."""
    cassettes: Path | None = None

    @property
    def loop(self) -> str:
        """The driver of the loop without a fault."""
        return self.driver or reference(self.profiles)

    @property
    def waits(self) -> Patience:
        """The timeouts of a run."""
        return Patience(self.timeout or (30.0 if self.loop == SERVER else 10.0), self.patience)

    @property
    def collection(self) -> str:
        """The collection of the mutants."""
        return self.mutants or COLLECTIONS.get(self.loop, MUTANTS)


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
        making = Kill(replace(options, profiles=options.profiles or _profiles_of(options.requirements)))
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
        from looptck.kill.page import page

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


def _profiles_of(requirements: Iterable[str]) -> tuple[str, ...]:
    """The profiles of requirements, each once.

    Raises:
        CouldNotRun: an id names no requirement.
    """
    rows = {row.id: row.profile for row in catalogue()}
    for id in requirements:
        if id not in rows:
            raise CouldNotRun(unknown("requirement", id, list(rows)))
    return tuple(dict.fromkeys(rows[id] for id in requirements))


def again(wanted: KillOptions) -> str:
    """The command line that makes the matrix, without a selection of mutants."""
    words = ["looptck", "kill"]
    words += ["--driver", wanted.driver] if wanted.driver else []
    words += ["--mutants", wanted.mutants] if wanted.mutants else []
    words += [word for profile in wanted.profiles for word in ("--profile", profile)]
    words += ["--own"] if wanted.own else []
    words += ["--full"] if wanted.full else [word for cell in wanted.cells for word in ("--cell", cell)]
    return shlex.join(words)


class Kill:
    """A matrix in the making.

    Raises:
        CouldNotRun: the mutants cannot be read, or the loop without a fault fails.
        NotInstalled: the reference is needed, and its extra is missing.
    """

    def __init__(self, wanted: KillOptions) -> None:
        self._wanted = wanted
        self.catalogue: Catalogue = catalogue()
        need_reference(wanted.collection)
        try:
            self.catalogue.named(wanted.profiles)
            every = mutants.read(wanted.collection, self.catalogue)
            named = mutants.named(every, wanted.names)
        except (mutants.BadMutant, ValueError) as error:
            raise CouldNotRun(str(error)) from error
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

    @property
    def workers(self) -> int:
        """The number of parallel processes: two for each core, since many checks wait at times."""
        return self._wanted.workers or 2 * (said() or cores())

    @property
    def narrowed(self) -> bool:
        """Whether some mutants were left out, so that the requirements cannot be judged as a whole."""
        return bool(self._wanted.names or self._wanted.requirements)

    def unharmed(self) -> int:
        """Judge the loop without a fault; returns how many checks it passed.

        Raises:
            CouldNotRun: it does not pass all of them, so a mutant that fails one proves nothing.
        """
        checks = self._checks_of_all()
        share = -(-len(checks) // (SHARES * self.workers))
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

    def _played(self, driver: str, checks: Sequence[Planned]) -> list[Played]:
        logging.lastResort = logging.NullHandler()  # hides the log output of implementations
        return [*play(self._session, driver, checks)]

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
            cases_of(self._plan),
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
        every = chosen(self._plan, profile=mutant.profile, cells=self._cells(mutant))
        if self._is_own(mutant):
            return [one for one in every if one.check.requirement.id in mutant.breaks]
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
        played = self._played(mutant.driver, self.checks(mutant))
        usual = {"pass", "divergence"}
        return [one for one in played if one.result.verdict not in usual or one.result.requirement in mutant.breaks]

    def _column(self, done: Done[Mutant, list[Played]]) -> Column:
        played, trouble = done.value or [], done.trouble
        faults = [one.result for one in played if one.result.verdict == "error"]
        if faults and not trouble:
            first = f"{faults[0].requirement}: {faults[0].reason}"
            trouble = f"{amount(len(faults), 'check')} could not be judged; the first: {first}"
        cells, checks = self._cells(done.task), len(self.checks(done.task))
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
