"""The bench: a provider, a connection to one implementation, and the base class of the two kinds of bench."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter
from typing import Self

from looptck.bench import joined_rounds
from looptck.bench.run import Run, end
from looptck.bench.scenario import Scenario
from looptck.bench.settling import in_time, waited_for
from looptck.catalogue.requirements import catalogue
from looptck.drivers import DriverFault, Line, Started
from looptck.drivers.idle import Pulse, pulse
from looptck.drivers.standstill import Standstill
from looptck.guard.waiting import done_within
from looptck.provider.confirmation import Confirmation
from looptck.provider.gates import opener
from looptck.provider.habits import Habits
from looptck.provider.http_reader import MAX_BODY
from looptck.provider.mock_run import MockRun
from looptck.provider.server import Late, Provider
from looptck.provider.toolbox import Toolbox
from looptck.values.cell import Cell
from looptck.values.frozen import dataclass
from looptck.values.outcome import Nothing, Outcome
from looptck.values.spent import Spent
from looptck.values.transcript import Cancelled, Transcript
from looptck.values.verdicts import NotApplicable
from looptck.wires import WIRES, Wire


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the kit waits, in seconds."""

    outcome: float = 20.0
    """Without any event of a run, before the watchdog ends it."""
    gate: float = 5.0
    """For a gate to open."""
    start: float | None = None
    """For a driver to start; None: as long as suits its kind."""


class Bench:
    """One implementation and the provider. Use it as a context manager; `choosing.bench_for` makes one for a driver.

    Until it is entered it has nothing that belongs to one process, so each fork of a process may enter it.

    Raises:
        DriverFault: on entry, if the driver cannot be started.
    """

    def __init__(self, driver: str, line: Line, patience: Patience, *, port: int = 0, most: int = MAX_BODY) -> None:
        self.driver = driver
        self.patience = patience
        self.wires: Mapping[str, Wire] = WIRES
        """How the provider speaks; a dialect takes the place of some."""
        self.started: Started
        self.late_faults: list[DriverFault] = []
        self.late: list[Late] = []
        """The requests that came for runs that were over; known once the bench is closed."""
        self.is_endless = False
        """Whether looptck had to end a conversation that had no limit."""
        self._line = line
        self._provider = Provider(port, most=most)
        self._played = "r"
        """What is being played: the beginning of the ids of its runs."""
        self._runs: Counter[str] = Counter()
        self.is_open = False
        """Whether it has been entered."""
        self._files: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> Self:
        with ExitStack() as undo:
            undo.callback(self._close_files)
            undo.enter_context(self._provider)
            self._start()
            undo.pop_all()
        self.is_open = True
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.late_faults = self._line.stop()
        finally:
            self._provider.__exit__()
            self.late = self._provider.late
            self.late_faults += [_late(run, count) for run, count in self._provider.spans.late.items()]
            self._close_files()

    def _start(self) -> None:
        self.started = self._line.start()
        claimed = self.started.profiles
        there = catalogue().profiles if claimed else {}
        if strangers := [name for name in claimed if name not in there]:
            self._line.stop()
            detail = f"it claims the profile {strangers[0]}, which there is not; there are {', '.join(there)}"
            raise DriverFault("cannot-start", detail)

    @property
    def _folder(self) -> Path:
        """A folder for files that runs need; it is made for the first of them, and goes with the bench."""
        if self._files is None:
            self._files = tempfile.TemporaryDirectory(prefix="looptck-", ignore_cleanup_errors=True)
        return Path(self._files.name)

    def _close_files(self) -> None:
        if self._files is not None:
            self._files.cleanup()
            self._files = None

    @property
    def can_be_started_twice(self) -> bool:
        """Whether another bench may play the same implementation at the same time."""
        return True

    @property
    def origin(self) -> str:
        """The origin of the provider's URLs."""
        return self._provider.origin

    @property
    def spent(self) -> Spent:
        """Where the time of its runs went."""
        return self._provider.spent

    def transcripts(self) -> Iterable[Transcript]:
        """The events of all runs that have begun and are not closed."""
        return self._provider.transcripts()

    def enter(self, played: str) -> None:
        """Whatever was played is over, and what has this name begins: the ids of its runs begin with the name."""
        self.leave()
        self._played = played

    def leave(self) -> None:
        """The check is over."""

    def standstill(self) -> Standstill:
        """Looks whether the implementation has come to a standstill; by default nothing is known of it."""
        return Standstill(Pulse)

    def give_up(self, running: Running, nothing: Nothing) -> None:
        """The watchdog has ended a run. Raises DriverFault if the driver is to blame."""

    def cancel(self, running: Running) -> None:
        """Cancel a run, as its caller. Raises NotApplicable where no run can be cancelled."""
        raise NotApplicable("the implementation is a server: its caller has nothing to cancel a run with")

    def settle(self, running: Running) -> None:
        """A run has its outcome: wait for the events that may still come."""

    def clear(self, running: Running) -> Exception | None:
        """Close a run that is over; the error in looptck itself during the run, if any.

        A run that has returned nothing may go on: nobody has stopped it, and its caller still waits.
        """
        self._provider.close(running.mock_run, running.run.id if running.run.returned else "")
        return running.mock_run.broken

    def _mock_run(
        self,
        wire: str,
        scenario: Scenario,
        *,
        confirmation: Confirmation | None = None,
        habits: Habits | None = None,
        rest: Callable[[], float] | None = None,
        after: MockRun | None = None,
        mark: str = "",
    ) -> MockRun:
        """A mock run of the scenario, in its present state, on a wire; see `MockRun` for what may be said of it."""
        mock_run = MockRun(
            self.wires[wire],
            scenario.script,
            Toolbox(dict(scenario.behaviours)),
            gates=scenario.gates,
            patience=self.patience.gate,
            confirmation=confirmation,
            servers=scenario.servers,
            habits=habits,
            rest=rest,
            after=after,
            mark=mark,
        )
        mock_run.ahead = scenario.ahead
        if scenario.signal is not None:
            mock_run.transcript.watchers.append(opener(scenario.signal))
        return mock_run

    def _run(self, cell: Cell, prompt: tuple[tuple[str, str], ...], mock_run: MockRun) -> Run:
        """A run that has no outcome yet."""
        self._runs[self._played] += 1
        id = f"{self._played}.{self._runs[self._played]}"
        return Run(id, cell, prompt, mock_run.turns, mock_run.transcript, Nothing(self.patience.outcome))


@dataclass(slots=True)
class Running:
    """A run that has begun."""

    bench: Bench
    mock_run: MockRun
    run: Run
    future: Future[Outcome]
    trace: str | None = None
    """The trace id of its spans, if it should export them."""

    def result(self) -> Run:
        """Wait for the outcome.

        Raises:
            DriverFault: the driver was at fault in this run, or never began it.
        """
        try:
            patience, beside = self.bench.patience.outcome, self.bench.transcripts
            standstill = self.bench.standstill()
            if in_time(self.run.transcript, patience, self._ended, beside, lambda: pulse(os.getpid()), standstill):
                self.run.outcome = self._outcome()
                self.bench.spent.runs += self.run.transcript.now()
                end(self.run)
                began = perf_counter()
                self.bench.settle(self)
                self.bench.spent.idle += perf_counter() - began
            else:
                self.bench.spent.runs += self.run.transcript.now()
                waited = waited_for(self.run.transcript, self.bench.patience.outcome)
                nothing = Nothing(waited, still=standstill.seen)
                self.bench.give_up(self, nothing)
                self.run.outcome = nothing
                end(self.run)
        finally:
            broken = self.bench.clear(self)
        if broken is not None:
            raise broken
        return self.run

    def cancel(self) -> None:
        """Cancel the run, as its caller."""
        self.run.transcript.append(Cancelled(self.run.transcript.now()))
        self.bench.cancel(self)

    def _outcome(self) -> Outcome:
        """The outcome; where an error that no caller can catch has ended the process of a run that had asked, that."""
        try:
            outcome = self.future.result()
            return joined_rounds.read(outcome, self.mock_run) if self.bench.started.joins_rounds else outcome
        except DriverFault as fault:
            if fault.uncaught is None or not self.run.requests:
                raise
            return fault.uncaught

    def _ended(self, seconds: float) -> bool:
        return done_within(seconds, self.future)


def _late(run: str, count: int) -> DriverFault:
    detail = f"{count} spans of run {run} came after its end: export them before the run is finished"
    return DriverFault("bad-message", detail, run=run)
