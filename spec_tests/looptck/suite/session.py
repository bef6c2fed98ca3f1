"""The session: one implementation, the checks chosen for it, and the verdicts so far."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from looptck.bench.bench import Bench
from looptck.bench.cases import cases
from looptck.bench.checks import Check, Implementation
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.cassettes import Cassette, cassettes
from looptck.cassettes.deviations import deviations_of
from looptck.catalogue.known_failures import Known
from looptck.catalogue.requirements import Catalogue
from looptck.catalogue.traits import traits
from looptck.drivers import ALONE, Started
from looptck.drivers.cells import cells
from looptck.guard import playing
from looptck.suite.aftermath import Aftermath
from looptck.suite.asking import Question, Survey
from looptck.suite.choosing import RECORDED, Choice, judged_by, scenarios_needed
from looptck.suite.options import CouldNotRun, Options, Prepared, playable
from looptck.suite.record import Record
from looptck.suite.selection import Selection, excused, missing
from looptck.suite.shared_runs import SharedRuns
from looptck.suite.sizes import EXAMPLES, FEW_EXAMPLES
from looptck.suite.tryout import unreached
from looptck.values.cell import Cell
from looptck.values.recorded import played_scenario
from looptck.values.verdicts import NotApplicable, Result, no_capability, no_claim
from looptck.wires import WIRES


@dataclass
class Session:
    """One run of the suite."""

    bench: Bench
    catalogue: Catalogue
    selection: Selection
    known: list[Known]
    examples: int
    cassettes: tuple[Cassette, ...]
    trace: Path | None = None
    chosen: list[Check] = field(default_factory=list)
    survey: Survey = field(default_factory=Survey)
    """The questions about traits, and the answers."""
    _ended: bool = False
    record: Record = field(init=False)
    """What the run has come to so far."""
    shared: SharedRuns = field(init=False)
    """The runs that the checks of a case share."""
    _aftermath: Aftermath = field(init=False)
    _places: dict[Check, int] = field(default_factory=dict)
    """The places of the chosen checks."""
    _place: int = 0
    """That of the check that is played."""
    _by_name: dict[tuple[str, str, bool], Cassette] = field(init=False)
    """Cassettes by name, wire and whether they are streams."""

    def __post_init__(self) -> None:
        self._cells = cells(self.bench.started, WIRES)
        self.record = Record(self.bench.driver, self.bench.started, self.catalogue, self.selection, self.known)
        self.shared, self._aftermath = SharedRuns(self.catalogue), Aftermath(self.record)
        self.record.answers = self.survey.answers
        self.record.spent = self.bench.spent
        self._by_name = {(one.name, one.wire, one.stream): one for one in reversed(self.cassettes)}

    @classmethod
    def begin(cls, options: Options) -> Session:
        """Start the driver and the provider.

        Raises:
            CouldNotRun: the message is the reason.
        """
        return cls.opened(Prepared.of(options))

    @classmethod
    def opened(cls, prepared: Prepared) -> Session:
        """Start the driver and the provider of what is prepared.

        Raises:
            CouldNotRun: the message is the reason.
        """
        with playable(), ExitStack() as stack:
            stack.enter_context(prepared.bench)
            session = cls.of(prepared)
            stack.pop_all()
        return session

    @classmethod
    def of(cls, prepared: Prepared) -> Session:
        """The session of a bench whose ``started`` is known.

        Raises:
            CouldNotRun: a cassette cannot be played.
        """
        options, bench = prepared.options, prepared.bench
        with playable():
            played = prepared.given
            if played is None:
                played = _shipped(options.selection, prepared.rows, bench)
            for one in played:
                deviations_of(one)
        survey = Survey(wanted=options.asks)
        whole = options.thorough or options.selection.is_narrow
        examples = options.examples or (EXAMPLES if whole else FEW_EXAMPLES)
        session = cls(bench, prepared.rows, options.selection, prepared.known, examples, played, survey=survey)
        session.record.given, session.trace = options.words, options.trace
        session.record.shard, session.record.thorough = options.shard, options.thorough
        return session

    def start(self) -> None:
        """Start the driver and the provider, of which was only known what the driver declares.

        Raises:
            CouldNotRun: the driver does not start, or declares something else; its version may be another.
        """
        declared = self.bench.started
        with playable():
            self.bench.__enter__()
        if replace(self.bench.started, version=declared.version) != declared:
            self.end()
            raise CouldNotRun("the driver declares something else when it is started once more")

    def on(self, bench: Bench) -> Session:
        """The same checks for another implementation."""
        return Session(bench, self.catalogue, self.selection, self.known, self.examples, self.cassettes)

    # -- choosing ----------------------------------------------------------------------------------------------------

    @cached_property
    def choice(self) -> Choice:
        """The checks that exist for the implementation."""
        return Choice(self.catalogue, self.selection, self.cassettes, self.bench.started, self.cells())

    def cells(self) -> list[Cell]:
        return self._cells

    def unreached(self) -> str | None:
        """Why nothing can be judged: on no selected wire does the implementation reach the provider.

        None if it reaches the provider on one, or is a server, to which looptck is the client.
        """
        if self.bench.started.serves:
            return None
        wanted = [cell for cell in self.cells() if not self.selection.cells or cell.matches(self.selection.cells)]
        by_wire = {cell.wire: cell for cell in reversed(wanted)}
        return unreached(self.bench, [*by_wire.values()], self.selection.profiles)

    def questions(self, trait: str) -> list[Question]:
        """The questions about a trait: one for each cell in which it is asked."""
        asked = [cell for cell in self.cells() if self.selection.asks(trait, cell, self.bench.started)]
        return [Question(traits()[trait], cell) for cell in asked if self.survey.wanted]

    @cached_property
    def wanted(self) -> frozenset[str]:
        """The ids of all that is selected; a requirement for some cassettes stands in for the one for all."""
        rows = self.choice.rows
        asked = frozenset(trait.id for trait in traits() if self.questions(trait.id))
        recorded = {RECORDED} if rows & {judged_by(one) for one in self.cassettes} else set()
        return rows | self.choice.named | asked | recorded

    def cassette_of(self, check: Check) -> Cassette | None:
        """The cassette that a check plays; None if it plays none."""
        return self._by_name.get((check.case, check.cell.wire, check.cell.stream))

    def collected(self, chosen: Sequence[Check], offered: Iterable[Check], left_out: Iterable[Check] = ()) -> None:
        """Take the checks of the run.

        Args:
            chosen: what is played.
            offered: the checks before the selection by case.
            left_out: what only a thorough run plays.
        """
        self.record.left_out = [one.names for one in left_out]
        self._places = {check: place for place, check in enumerate(chosen, 1)}
        self.shared.ask_about(chosen)
        self.choose(chosen)
        self.record.offered = list(dict.fromkeys(check.case for check in offered))

    def choose(self, checks: Iterable[Check]) -> None:
        """Take the checks of the run that will be played here."""
        self.chosen = list(checks)
        self.shared.expect(self.chosen)
        self.record.checks = len(self.chosen)
        playing.note("chosen", checks=len(self.chosen))

    # -- running -----------------------------------------------------------------------------------------------------

    def require(self, check: Check) -> None:
        """Raises NotApplicable if the check needs a profile or a capability that the driver does not declare."""
        lacking = _lacking(check, self.bench.started)
        if lacking is not None:
            raise NotApplicable(lacking)

    def is_judged(self, check: Check) -> bool:
        """Whether the driver declares what the check needs."""
        return _lacking(check, self.bench.started) is None

    def at(self, check: Check) -> None:
        """The results that are added from now on are those of this check."""
        self._place = self._places.get(check, 0)

    def implementation(self, check: Check, scenario: Scenario) -> Implementation:
        self.at(check)
        self.bench.enter(f"r{self._place}")
        playing.note("check", check=check.id)
        return Implementation(self.bench, check, scenario, self.examples, shrinks=not self._is_known(check))

    def add(self, result: Result, runs: Iterable[Run] = (), *, noticed: bool = False) -> None:
        """Add a verdict; ``noticed``: it is in addition to the verdict of a check."""
        result.place = result.place or self._place
        self._aftermath.read_from(result, runs)
        self.record.add(result, noticed=noticed)

    def _is_known(self, check: Check) -> bool:
        return self.record.known_for(check.requirement.id, check.cell, check.case) is not None

    def end(self) -> None:
        """Stop the driver, and add to the record what came to light when its runs had ended."""
        if self._ended or not self.bench.is_open:
            return
        self._ended = True
        self.bench.__exit__()
        self.record.faults = self.bench.late_faults
        for fault in self.bench.late_faults:
            self._aftermath.spoil(fault)
            self.survey.spoil(fault)
        self._aftermath.come_late(self.bench.late, len(self._places))


def _shipped(selection: Selection, rows: Catalogue, bench: Bench) -> tuple[Cassette, ...]:
    """The cassettes of the project that a selection may play; no other is read."""
    wanted = selection.rows(rows, cells(bench.started, WIRES), bench.started)
    scenarios = scenarios_needed(wanted)
    exact = all("*" not in name for name in selection.cases)
    if exact and any(name in cases() for name in selection.cases):
        scenarios = {one for name in selection.cases if (one := played_scenario(name))}
    return cassettes(None, selection.cells, scenarios)


def _lacking(check: Check, started: Started) -> str | None:
    """Why a check is not for an implementation: a profile or capability that it does not declare, or one it follows.

    The profile counts only if it is one of `ALONE`, which are judged for loops that claim them.
    """
    profile = check.requirement.profile
    if profile in ALONE and profile not in started.profiles:
        return no_claim(profile)
    if lacking := missing(check.requirement, check.cell, started):
        return no_capability(lacking)
    return excused(check.requirement, check.cell, started)
