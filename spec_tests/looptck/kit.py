"""The kit at work: a provider, a line to one implementation, and runs that bring them together."""

from __future__ import annotations

import itertools
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from looptck import handover, spans
from looptck.cells import Cell
from looptck.client import Ask, Visits
from looptck.drivers import MODEL, USUAL, Connection, DriverFault, Servers, Started, connect
from looptck.handover import Setting
from looptck.hosting import offering
from looptck.outcome import Nothing, Outcome
from looptck.provider import shared
from looptck.provider.confirmation import Confirmation, Decision
from looptck.provider.gates import Gate, opener
from looptck.provider.habits import Habits
from looptck.provider.modelfile import Taught
from looptck.provider.script import RUNAWAY_CAP, Script, Step, step
from looptck.provider.server import Late, Provider
from looptck.provider.stage import Stage
from looptck.provider.toolbox import Behaviour, Raises, Returns, Toolbox
from looptck.reasoning import named
from looptck.run import Run, end
from looptck.settling import in_time, may_go_on, settle
from looptck.transcript import Chunk, LostSpans, Spanned
from looptck.turns import Turn
from looptck.verdicts import NotApplicable
from looptck.wires import WIRES


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the kit waits, in seconds."""

    outcome: float = 20.0
    """For the outcome of one run: the watchdog."""
    gate: float = 5.0
    """For a gate to open."""


@dataclass(slots=True)
class Scene:
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
    def gates(self) -> tuple[Gate, ...]:
        """Every gate in the script and the toolbox."""
        held = [hold.gate for one in self.steps for hold in one.holds]
        before = [one.before for one in self.steps]
        tools = [behaviour.hold for many in self.behaviours.values() for behaviour in many]
        decided = [decision.hold for many in self.decisions.values() for decision in many]
        every = (*held, *before, *tools, *decided, *self.watching)
        return tuple(dict.fromkeys(gate for gate in every if gate is not None))


UPSTREAM = "openai-chat"
"""The wire on which servers ask their model."""


class Kit:
    """One implementation on the bench. Use it as a context manager.

    Raises:
        DriverFault: on entry, where the driver cannot be started.
        ValueError: the driver's name is of no known form.
    """

    def __init__(self, driver: str, patience: Patience | None = None) -> None:
        self.driver = driver
        self.patience = patience or Patience()
        self._connection: Connection = connect(driver)
        self._provider = Provider(self._connection.port if isinstance(self._connection, Servers) else 0)
        self.visits = Visits(self.patience.outcome)
        self._ids = itertools.count(1)
        self._files = tempfile.TemporaryDirectory(prefix="looptck-", ignore_cleanup_errors=True)
        self._folder = Path(self._files.name)
        self.started: Started
        self.late_faults: list[DriverFault] = []
        self.late: list[Late] = []
        """What came for runs that were over, once the kit has stopped."""
        self._habits: defaultdict[tuple[Cell, str], Habits] = defaultdict(Habits)
        self._taught: Taught | None = None
        self._asked: list[Running] = []
        """What servers were asked and have not answered."""

    def __enter__(self) -> Self:
        self._provider.__enter__()
        try:
            if isinstance(self._connection, Servers):
                origin = self._provider.origin
                self._connection.between(origin + shared.MODEL, origin + shared.DISPATCH)
            self.started = self._connection.start()
            if isinstance(self._connection, Servers) and self.started.can(MODEL):
                self._taught = Taught(self._connection, self._folder)
                self._taught.learn(Script())
        except BaseException:
            self._provider.__exit__()
            self._close_files()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.late_faults = self._connection.stop()
        finally:
            self._provider.__exit__()
            self.late = self._provider.late
            self.late_faults += [_late(run, count) for run, count in self._provider.spans.late.items()]
            self._close_files()

    def _close_files(self) -> None:
        if self._taught is not None:
            self._taught.close()
        self._files.cleanup()

    def begin(
        self,
        scene: Scene,
        cell: Cell,
        *,
        name: str,
        profile: str = "core",
        setting: Setting | None = None,
    ) -> Running:
        """Start a run; the scene is taken as it stands now."""
        setting = named(setting or Setting(), scene.steps, WIRES[cell.wire])
        setting = offering(setting, scene.steps, WIRES[cell.wire], self.started)
        toolbox = Toolbox(dict(scene.behaviours))
        stage = Stage(
            WIRES[cell.wire],
            Script(tuple(scene.steps), scene.endless, scene.most, scene.stateful),
            toolbox,
            gates=scene.gates,
            patience=self.patience.gate,
            confirmation=Confirmation(dict(scene.decisions)),
            habits=self._habits[cell, profile],
        )
        if scene.signal is not None:
            stage.transcript.watchers.append(opener(scene.signal))
        url = self._provider.open(stage)
        trace = None
        id = f"r{next(self._ids)}"
        told = handover.case(setting, cell, url, name=name, profile=profile)
        if setting.as_file:
            handover.with_files(told, setting, cell, self._folder / id)
        if setting.telemetry:
            trace = handover.with_telemetry(told, self._provider.telemetry)
            self._provider.spans.open(trace, stage.transcript)
        run = Run(id, cell, setting.messages, stage.turns, stage.transcript, Nothing(self.patience.outcome))
        run.offered = [tool.name for tool in setting.offered]
        run.pruned = setting.keep_rounds is not None or setting.context is not None
        run.nested = bool(setting.actor.children)
        transcript = stage.transcript
        future = self._connection.run(id, told, lambda text: transcript.append(Chunk(transcript.now(), text)))
        return Running(self, stage, run, future, trace)

    @property
    def origin(self) -> str:
        """Where the kit's provider listens."""
        return self._provider.origin

    @property
    def servers(self) -> Servers:
        """The line to an implementation that is a server. Raises NotApplicable where it is none."""
        if not isinstance(self._connection, Servers):
            raise NotApplicable("the implementation is no server: it takes cases and no requests")
        return self._connection

    def ask(self, scene: Scene, cell: Cell, ask: Ask, *, setup: str = USUAL) -> Running:
        """Ask a server as a client does; the scene, as it stands now, is what its model and its tools will do."""
        script = Script(tuple(scene.steps), scene.endless, scene.most)
        scripted = None
        if self._taught is not None:
            scripted = self._taught.learn(script, ask.session, alone=not self._asked)
        url = self.servers.url(setup)
        stage = Stage(
            WIRES[UPSTREAM],
            script,
            Toolbox(dict(scene.behaviours)),
            gates=scene.gates,
            patience=self.patience.gate,
        )
        if scene.signal is not None:
            stage.transcript.watchers.append(opener(scene.signal))
        names = [tool.name for tool in ask.tools]
        self._provider.share(stage, ask.question, [*names, *scene.behaviours])
        run = Run(
            f"r{next(self._ids)}",
            cell,
            (("user", ask.question),),
            stage.turns,
            stage.transcript,
            Nothing(self.patience.outcome),
            offered=names,
            pruned=True,
            scripted=scripted,
        )
        run.reply, future = self.visits.begin(url, ask, cell.wire, stage.transcript, stream=cell.stream)
        running = Running(self, stage, run, future)
        self._asked.append(running)
        return running

    def leave(self) -> None:
        """The check is over. A server whose model is a file is started anew if it is still at what it was asked."""
        if self._taught is not None and self._asked:
            self._taught.forget()
            for running in list(self._asked):
                self.clear(running.stage, running.run, None)

    def give_up(self, running: Running) -> None:
        """The watchdog has gone off. Whose fault it is, the wire tells: a run that never reached it is the driver's."""
        if isinstance(self._connection, Servers):
            return
        fault = self._connection.abandon(running.run.id, begun=bool(running.run.requests))
        if fault is not None and fault.kind != "hung":
            raise fault
        if not running.run.requests:
            detail = f"run {running.run.id}: no model request and no outcome in {self.patience.outcome:g} s"
            raise DriverFault("hung", detail, stderr=fault.stderr if fault else "", run=running.run.id)

    def settle(self, running: Running) -> None:
        """Listen on until nothing of a run that has its outcome can arrive any more."""
        if may_go_on(running.stage) and not isinstance(self._connection, Servers):
            settle(running.stage, self._provider, self._connection, self.patience.gate)

    def fetch(self, run: Run, trace: str) -> None:
        """Write the spans of a run that its driver keeps in this process into its transcript.

        Raises:
            DriverFault: it keeps something else.
        """
        transcript = run.transcript
        others = 0
        try:
            for kept in self._connection.kept_spans():
                if f"{kept.context.trace_id:032x}" == trace:
                    transcript.append(Spanned(transcript.now(), spans.of_sdk(kept)))
                elif not self._provider.spans.knows(f"{kept.context.trace_id:032x}"):
                    others += 1
        except Exception as error:
            raise DriverFault("bad-message", f"its span_exporter cannot be read: {error!r}", run=run.id) from error
        if others and not len(run.spans):
            why = f"the driver's span_exporter holds {others} spans of traces that no run was given"
            transcript.append(LostSpans(transcript.now(), why))

    def clear(self, stage: Stage, run: Run, trace: str | None) -> Exception | None:
        """The run is over; what went wrong in the kit itself while it went on."""
        self._provider.close(stage, run.id)
        self._asked = [running for running in self._asked if running.stage is not stage]
        if trace is None:
            return stage.broken
        self._provider.spans.close(trace, None if isinstance(run.outcome, Nothing) else run.id)
        return stage.broken or self._provider.spans.broken


@dataclass(slots=True)
class Running:
    """A run that has begun."""

    kit: Kit
    stage: Stage
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
            if in_time(self.run.transcript, self.kit.patience.outcome, self._ended):
                self.run.outcome = self.future.result()
                end(self.run)
                self.kit.settle(self)
                if self.trace is not None:
                    self.kit.fetch(self.run, self.trace)
            else:
                self.kit.give_up(self)
                end(self.run)
        finally:
            broken = self.kit.clear(self.stage, self.run, self.trace)
        if broken is not None:
            raise broken
        return self.run

    def _ended(self, seconds: float) -> bool:
        return bool(wait([self.future], seconds).done)


def _late(run: str, count: int) -> DriverFault:
    detail = f"{count} spans of run {run} came when it was over: export them before the run is finished"
    return DriverFault("bad-message", detail, run=run)
