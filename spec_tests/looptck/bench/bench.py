"""The kit at work: a provider, a line to one implementation, and what all runs share that bring them together."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from looptck.bench.run import Run, end
from looptck.bench.settling import in_time, waited_for
from looptck.catalogue.requirements import catalogue
from looptck.drivers import DriverFault, Line, Started
from looptck.provider.confirmation import Confirmation, Decision
from looptck.provider.gates import Gate, opener
from looptck.provider.habits import Habits
from looptck.provider.mock_run import MockRun
from looptck.provider.script import RUNAWAY_CAP, Script, Step, step
from looptck.provider.server import Late, Provider
from looptck.provider.toolbox import Behaviour, Raises, Returns, Toolbox
from looptck.values.cell import Cell
from looptck.values.outcome import Nothing, Outcome
from looptck.values.turns import Turn
from looptck.wires import WIRES

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the kit waits, in seconds."""

    outcome: float = 20.0
    """For the outcome of one run: the watchdog."""
    gate: float = 5.0
    """For a gate to open."""


@dataclass(slots=True)
class Scenario:
    """What the provider and the tools will do in the next run."""

    steps: list[Step] = field(default_factory=list)
    endless: Callable[[int], Step] | None = None
    most: int = RUNAWAY_CAP
    behaviours: dict[str, Sequence[Behaviour]] = field(default_factory=dict)
    decisions: dict[str, Sequence[Decision]] = field(default_factory=dict)
    """What is decided when the confirmation hook asks, by tool; under ``""`` for all other tools."""
    stateful: bool = True
    """Whether the service keeps what it has answered, where its wire can lean on that."""
    signal: Gate | None = None
    """Opened by the first model request, for other runs to wait on."""
    watching: tuple[Gate, ...] = ()
    """Further gates that events of the next runs open, for a check to wait on."""

    def plays(self, *what: Any, signal: Gate | None = None) -> None:
        """Answer the requests with these turns, faults or steps, in order."""
        self.steps = [step(one) for one in what]
        self.endless = None
        self.signal = signal

    def always(self, what: Callable[[int], Any], *, most: int = RUNAWAY_CAP) -> None:
        """After the steps, answer request ``n`` with ``what(n)``, a turn, a fault or a step, ``most`` times at most."""
        self.endless = lambda n: step(what(n))
        self.most = most

    def listens(self, turn: Callable[[Any], Turn], *, most: int = RUNAWAY_CAP) -> None:
        """After the steps, answer each request with the turn that its body leads to."""
        self.endless = lambda _: Step(None, by=turn)
        self.most = most

    def returns(self, tool: str, *values: Any) -> None:
        """Let a tool return these values, one for each run, the last one from then on."""
        self.behaviours[tool] = [Returns(value) for value in values]

    def raises(self, tool: str, message: str, type: str = "RuntimeError") -> None:
        """Let a tool raise an error of this type."""
        self.behaviours[tool] = [Raises(message, type)]

    def does(self, tool: str, *behaviours: Behaviour) -> None:
        """Let a tool behave so, once each, the last one from then on."""
        self.behaviours[tool] = behaviours

    def decides(self, *decisions: Decision, about: str = "") -> None:
        """Decide so when the confirmation hook asks, once each, the last one from then on; else every call may run.

        ``about`` is the tool whose calls these decisions are for; by default those of all tools without their own.
        """
        self.decisions[about] = decisions

    @property
    def script(self) -> Script:
        """What the provider answers."""
        return Script(tuple(self.steps), self.endless, self.most, self.stateful)

    @property
    def gates(self) -> tuple[Gate, ...]:
        """Every gate in the script and the toolbox."""
        held = [hold.gate for one in self.steps for hold in one.holds]
        before = [one.before for one in self.steps]
        tools = [behaviour.hold for many in self.behaviours.values() for behaviour in many]
        decided = [decision.hold for many in self.decisions.values() for decision in many]
        every = (*held, *before, *tools, *decided, *self.watching)
        return tuple(dict.fromkeys(gate for gate in every if gate is not None))


class Bench:
    """One implementation on the bench. Use it as a context manager; `benches.bench_for` makes the one for a driver.

    Raises:
        DriverFault: on entry, where the driver cannot be started.
    """

    def __init__(self, driver: str, line: Line, patience: Patience, *, port: int = 0) -> None:
        self.driver = driver
        self.patience = patience
        self.started: Started
        self.late_faults: list[DriverFault] = []
        self.late: list[Late] = []
        """What came for runs that were over, once the kit has stopped."""
        self._line = line
        self._provider = Provider(port)
        self._ids = itertools.count(1)
        self._files = tempfile.TemporaryDirectory(prefix="looptck-", ignore_cleanup_errors=True)
        self._folder = Path(self._files.name)

    def __enter__(self) -> Self:
        self._provider.__enter__()
        try:
            self._start()
        except BaseException:
            self._provider.__exit__()
            self._close_files()
            raise
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

    def _close_files(self) -> None:
        self._files.cleanup()

    @property
    def origin(self) -> str:
        """Where the kit's provider listens."""
        return self._provider.origin

    def leave(self) -> None:
        """The check is over."""

    def give_up(self, running: Running) -> None:
        """The watchdog has gone off. Raises DriverFault where the driver is to blame."""

    def settle(self, running: Running) -> None:
        """A run has its outcome: take in what may still come of it."""

    def clear(self, running: Running) -> Exception | None:
        """The run is over; what went wrong in the kit itself while it went on."""
        self._provider.close(running.mock_run, running.run.id)
        return running.mock_run.broken

    def _mock_run(
        self,
        wire: str,
        scenario: Scenario,
        *,
        confirmation: Confirmation | None = None,
        habits: Habits | None = None,
    ) -> MockRun:
        """What plays the scene, as it stands now, on a wire."""
        mock_run = MockRun(
            WIRES[wire],
            scenario.script,
            Toolbox(dict(scenario.behaviours)),
            gates=scenario.gates,
            patience=self.patience.gate,
            confirmation=confirmation,
            habits=habits,
        )
        if scenario.signal is not None:
            mock_run.transcript.watchers.append(opener(scenario.signal))
        return mock_run

    def _run(self, cell: Cell, prompt: tuple[tuple[str, str], ...], mock_run: MockRun) -> Run:
        """A run that has no outcome yet."""
        id = f"r{next(self._ids)}"
        return Run(id, cell, prompt, mock_run.turns, mock_run.transcript, Nothing(self.patience.outcome))


@dataclass(slots=True)
class Running:
    """A run that has begun."""

    bench: Bench
    mock_run: MockRun
    run: Run
    future: Future[Outcome]
    trace: str | None = None
    """The trace of its spans, where it is to tell of them."""

    def result(self) -> Run:
        """Wait for the outcome.

        Raises:
            DriverFault: the driver did something wrong in this run, or never began it.
        """
        try:
            if in_time(self.run.transcript, self.bench.patience.outcome, self._ended):
                self.run.outcome = self.future.result()
                end(self.run)
                self.bench.settle(self)
            else:
                self.bench.give_up(self)
                self.run.outcome = Nothing(waited_for(self.run.transcript, self.bench.patience.outcome))
                end(self.run)
        finally:
            broken = self.bench.clear(self)
        if broken is not None:
            raise broken
        return self.run

    def _ended(self, seconds: float) -> bool:
        return bool(wait([self.future], seconds).done)


def _late(run: str, count: int) -> DriverFault:
    detail = f"{count} spans of run {run} came when it was over: export them before the run is finished"
    return DriverFault("bad-message", detail, run=run)
