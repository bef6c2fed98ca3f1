"""Checks: one requirement, in one cell, by one case; and the implementation under test as a check sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import pytest

from looptck.bench.answering import several_ruled_out
from looptck.bench.bench import Bench, Running
from looptck.bench.benches import loop_bench, server_bench
from looptck.bench.client import Ask
from looptck.bench.properties import Property
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.solutions import misasked
from looptck.catalogue.agents import Tool
from looptck.catalogue.requirements import Requirement
from looptck.drivers import AGENT_LOOP, DriverFault, Started
from looptck.drivers.case_message import RunOptions
from looptck.provider.model_run import AHEAD
from looptck.values.cell import Cell
from looptck.values.framing import Framing
from looptck.values.frozen import dataclass
from looptck.values.outcome import Nothing
from looptck.values.plain import amount
from looptck.values.team import Member
from looptck.values.transcript import Ended, Replied, ToolEnded
from looptck.values.verdicts import NotApplicable, NotReached, no_capability
from looptck.wires import WIRES

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy


def requirement(*ids: str) -> pytest.MarkDecorator:
    """Binds a test function to the requirement that it checks, or to equal requirements of several documents."""
    return pytest.mark.looptck_requirement(*ids)


def on(*cells: str) -> pytest.MarkDecorator:
    """Limits a test function, or one of its parameters, to these cells; its requirement may concern more cells.

    Each is a wire or a pattern such as ``anthropic-messages/stream/*``.
    """
    return pytest.mark.looptck_cells(*(cell if "/" in cell else f"{cell}/*" for cell in cells))


def refusable(why: str) -> pytest.MarkDecorator:
    """Marks a test in which the service may refuse a request of a correct loop, with the reason."""
    return pytest.mark.looptck_refusable(why)


lengthy = pytest.mark.looptck_lengthy
"""Marks a test that takes seconds: a quick kill matrix runs it only on the mutants that name its requirement, and the
common run only where nothing else checks it."""

dressed = pytest.mark.looptck_dress
"""Marks a test that plays the same in several dresses: the common run plays one of them in each cell."""


def recorded(takes: Callable[[Any], bool]) -> pytest.MarkDecorator:
    """Binds a test function to cassettes: it runs once for each that it takes, in the cassette's cells."""
    return pytest.mark.looptck_cassettes(takes=takes)


def framed(framings: Mapping[str, Framing]) -> list[Any]:
    """Framings as the parameters of a test, each limited to the wires that can express it."""
    return [pytest.param(framing, id=name, marks=[dressed, _carrying(framing)]) for name, framing in framings.items()]


def _carrying(framing: Framing) -> pytest.MarkDecorator:
    """Limits a parameter to the wires that can express a framing."""
    return on(*(wire.name for wire in WIRES.values() if wire.carries_out(framing)))


@dataclass(frozen=True, slots=True)
class Check:
    """A requirement, a cell and a case: what a test item checks. ``case`` names the test or the declared case."""

    requirement: Requirement
    cell: Cell
    case: str

    @property
    def id(self) -> str:
        return f"{self.requirement.id}/{self.cell}/{self.case}"

    @property
    def names(self) -> tuple[str, str, str]:
        """The names of its requirement, its cell and its case."""
        return self.requirement.id, str(self.cell), self.case


class RunOverrides(TypedDict, total=False):
    """How a run differs from the default: its cell, and the fields of `RunOptions`."""

    cell: Cell
    agent: str
    inputs: Mapping[str, Any]
    limit: int | None
    tools: Sequence[Tool] | None
    kinds: Sequence[str]
    as_file: bool
    keep_rounds: int | None
    mcp_servers: Sequence[Mapping[str, str]]
    telemetry: bool
    context: Sequence[Mapping[str, Any]] | None
    output_schema: Mapping[str, Any] | None
    confirms: bool
    conversation: str | None
    goes_on: bool
    history: Sequence[Mapping[str, Any]]
    leave_after: int | None
    tool_choice: str | Mapping[str, str] | None
    parallel_calls: bool | None
    agents: Sequence[Member]
    model: str
    resume: Mapping[str, Any] | None
    shared: str | None


class Liveness(AssertionError):
    """The watchdog ended a run that had made a model request: the loop hung."""


@dataclass(slots=True)
class Implementation:
    """The implementation under test, as one check sees it."""

    bench: Bench
    check: Check
    scenario: Scenario
    examples: int = 25
    sampled: bool = False
    """Whether it has tried a property on some examples, so that more examples might fail it."""
    shrinks: bool = True
    """Whether a value that fails a property is shrunk before it is reported."""
    runs: list[Run] = field(default_factory=list)
    """Every run of this check so far; the report shows the last one."""
    divergences: dict[str, str] = field(default_factory=dict)
    example: Mapping[str, Any] = field(default_factory=dict)
    """The values that failed a property."""
    _stopped: Exception | None = None
    plays_several: bool = False
    """Whether several calls are played on purpose where a request allows one, which no service writes."""
    _apart: int = 0
    """How many of its runs have ids of their own."""

    @property
    def cell(self) -> Cell:
        return self.check.cell

    @property
    def started(self) -> Started:
        return self.bench.started

    @property
    def profile(self) -> str:
        """The profile of its runs: that of the requirement, or ``core`` if the driver does not claim it."""
        profile = self.check.requirement.profile
        return profile if profile in self.started.claimed else "core"

    def needs(self, capability: str, why: str = "") -> None:
        """Raises NotApplicable if the driver does not declare a capability that only a part of a check needs."""
        if not self.started.can(capability):
            raise NotApplicable(no_capability(capability, why))

    def begin(
        self,
        question: str | None = "Go.",
        *,
        after: Running | None = None,
        mark: str = "",
        apart: bool = False,
        **how: Unpack[RunOverrides],
    ) -> Running:
        """Begin a run of the scenario in its present state.

        ``after`` is a run before it, on whose service it goes on; ``mark`` are words in its requests and in none of
        that run's, if that may still be under way. ``apart``: its calls have ids that no other such run of the check
        has, as those of real services.

        In `AGENT_LOOP`, by default, the context is one message with the question, and any output is valid.
        """
        if self._stopped is not None:
            raise self._stopped
        cell = how.pop("cell", self.cell)
        self.needs(cell.needs, f", which a run in {cell} needs")
        if self.check.requirement.profile == AGENT_LOOP:
            how.setdefault("context", [] if question is None else [{"type": "text", "text": question}])
            how.setdefault("output_schema", {})
        options = RunOptions(question=question, **how)  # type: ignore[misc]  # a TypedDict forgets what was popped
        bench = loop_bench(self.bench)
        scenario = self.scenario
        if apart:
            scenario = replace(scenario, ahead=AHEAD * self._apart)
            self._apart += 1
        return bench.begin(
            scenario,
            cell,
            name=self.check.case,
            profile=self.profile,
            options=options,
            after=after.mock_run if after is not None else None,
            mark=mark,
        )

    def ask(self, ask: Ask, scenario: Scenario, *, setup: str, wire: str, stream: bool) -> Running:
        """Send a request to a server; its model and its tools follow the scenario in its present state."""
        if self._stopped is not None:
            raise self._stopped
        return server_bench(self.bench).ask(scenario, replace(self.cell, wire=wire, stream=stream), ask, setup=setup)

    def end(self, running: Running) -> Run:
        """Wait for the end of a run.

        Raises:
            Liveness: the run did not end in time.
            DriverFault: the driver did something wrong.
            NotApplicable: the script has a turn that no service writes for the request.
        """
        try:
            run = running.result()
        except DriverFault as fault:
            self._stopped = fault
            raise
        if run.ended and not self.plays_several and (why := several_ruled_out(run)) is not None:
            raise NotApplicable(why)
        self.runs.append(run)
        if isinstance(run.outcome, Nothing):
            self._stopped = Liveness(f"liveness: the loop {run.outcome}, {_far(run)}")
            raise self._stopped
        if self.check.requirement.profile == AGENT_LOOP and (wrong := misasked(run)) is not None:
            raise DriverFault("bad-message", wrong, run=run.id)
        return run

    def run(self, question: str | None = "Go.", *, apart: bool = False, **how: Unpack[RunOverrides]) -> Run:
        """Run the scenario in its present state, and wait for the end of the run; see `begin`."""
        return self.end(self.begin(question, apart=apart, **how))

    def diverges(self, topic: str, answer: str) -> None:
        """Record what the implementation does about a topic that the documents leave open."""
        self.divergences[topic] = answer

    def every(
        self, *strategies: SearchStrategy[Any], first: Mapping[str, Any] | None = None
    ) -> Callable[[Callable[..., None]], None]:
        """Runs the decorated body for many values of the strategies; a failing value is shrunk and its error raised.

        The values depend only on the body's name, so they are the same every time and for every implementation. The
        values of ``first`` are tried before all others, however few examples there are. Values that are not applicable
        are left out.

        Raises:
            NotApplicable: none of them is applicable.
        """
        self.sampled = True

        def decorate(body: Callable[..., None]) -> None:
            Property(body, strategies, first, self.examples, self.shrinks, self._note).hold()

        return decorate

    def _note(self, values: Mapping[str, Any]) -> None:
        """Keep the values of a property that are tried, for the report."""
        self.example = values


LONG = 10_000
"""The characters of a result whose length may be why a loop does not end."""


def _far(run: Run) -> str:
    """How far a run came that has no outcome: its requests, and what it was sent last if it did nothing afterwards."""
    asked = f"after {amount(len(run.received), 'model request')}"
    match next((event for event in reversed(run.transcript.events) if not isinstance(event, Ended)), None):
        case Replied() as reply:
            return f"{asked}; the last thing it was sent is reply {reply.n}: {reply.words}"
        case ToolEnded() as ended:
            size = len(str(ended.answer.get("value", "")))
            long = f", which has {size} characters" if size >= LONG else ""
            return f"{asked}; the last thing it was sent is the result of tool run {ended.run}{long}"
        case _:
            return asked


def control(run: Run, *tools: str) -> None:
    """The control of a negative check: the same scenario without its fault did run these tools.

    Raises:
        NotReached: it did not, so the negative check would pass without having tested anything.
    """
    ran = [tool for tool, _ in run.tools_ran]
    if list(tools) != ran:
        should, did = (", ".join(names) or "no tool" for names in (tools, ran))
        raise NotReached(f"the control run, without the fault, should run {should}, but ran {did}; it {run.outcome}")
