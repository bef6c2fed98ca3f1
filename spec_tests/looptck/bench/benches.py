"""The two kinds of bench: one passes cases to a loop, the other sends requests to a server that runs the loop."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from looptck.bench.answering import answerable
from looptck.bench.bench import Bench, Patience, Running
from looptck.bench.client import Ask
from looptck.bench.hosting import offering
from looptck.bench.model_names import named
from looptck.bench.reasoning import playable
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.settling import come_to_rest, may_go_on, settle
from looptck.drivers import MODEL, USUAL, Connection, DriverFault, Servers, case_message
from looptck.drivers.case_message import RunOptions
from looptck.drivers.idle import AtWork, Pulse, Rest
from looptck.drivers.standstill import Standstill
from looptck.provider import shared
from looptck.provider.confirmation import Confirmation
from looptck.provider.habits import Habits
from looptck.provider.mock_run import MockRun
from looptck.provider.modelfile import ScriptedModel
from looptck.provider.renamed import Names
from looptck.provider.script import Script
from looptck.values import spans
from looptck.values.cell import Cell
from looptck.values.outcome import Nothing
from looptck.values.transcript import Chunk, Event, LostSpans, Received, Spanned, Told, Transcript
from looptck.values.verdicts import NotApplicable

if TYPE_CHECKING:
    from looptck.bench.client.visit import Visits
    from looptck.drivers.servers.process import Log

LONGEST_REST = 1.0
"""Seconds that an implementation gets to come to rest; some never do."""
MOST_CHUNKS = 200_000
"""The most chunks and events of one run that are kept."""
MOST_TEXT = 64 * 1024 * 1024
"""The most characters of chunks of one run that are kept."""
MOST_ASKED = 80 * 1024 * 1024
"""The most bytes of a request of a server to its model: a server may hand on the 64 MB that a client sent."""
ASKS_ELSEWHERE = "does the client ask at `base_url`? One that ignores it, or has its own address, asks the real service"
"""What may be wrong with a driver whose loop gives no outcome and has asked nothing."""
ASKED_BEFORE = (
    "earlier runs have asked: a run waits so for a lock that another has kept, or for a client whose connections are "
    "all taken by replies that nobody has read to their end or closed"
)
"""The same where earlier runs have asked."""
UPSTREAM = "openai-chat"
"""The wire between servers and their model."""


def loop_bench(bench: Bench) -> LoopBench:
    """The bench of a loop. Raises NotApplicable if the implementation is a server."""
    if not isinstance(bench, LoopBench):
        raise NotApplicable("the implementation is a server: it takes requests, not cases")
    return bench


def server_bench(bench: Bench) -> ServerBench:
    """The bench of a server. Raises NotApplicable if the implementation is not a server."""
    if not isinstance(bench, ServerBench):
        raise NotApplicable("the implementation is not a server: it takes cases, not requests")
    return bench


class Chunks:
    """Adds chunks and events to a transcript, up to a bound: more are no sign of life of a run that never ends."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._count = self._length = 0

    def __call__(self, told: str | Mapping[str, Any] | None) -> None:
        self._count += 1
        self._length += len(told) if isinstance(told, str) else len(str(told))
        if self._count <= MOST_CHUNKS and self._length <= MOST_TEXT:
            now = self._transcript.now()
            heard = Chunk(now, told or "", told is None) if told is None or isinstance(told, str) else Told(now, told)
            self._transcript.append(heard)


class LoopBench(Bench):
    """A loop behind a driver, which takes one case after the other."""

    def __init__(self, driver: str, connection: Connection, patience: Patience) -> None:
        super().__init__(driver, connection, patience)
        self._connection = connection
        self._habits: defaultdict[tuple[Cell, str], Habits] = defaultdict(lambda: Habits(AtWork(self._pulse)))
        self._rest = Rest(self._pulse)
        self._is_watched: bool | None = None
        """Whether the process that asks is one whose pulse is known; None: nothing has asked so far."""
        self._has_asked = False

    def begin(
        self,
        scenario: Scenario,
        cell: Cell,
        *,
        name: str,
        profile: str = "core",
        options: RunOptions | None = None,
        after: MockRun | None = None,
        mark: str = "",
    ) -> Running:
        """Start a run of the scenario in its present state.

        ``after``: the mock run that it goes on with; ``mark``: words of its requests, where it runs beside that.
        """
        before = None if after is None else after.model
        options = named(options or RunOptions(), scenario.steps, self.wires[cell.wire], before=before)
        options = offering(options, scenario.steps, self.wires[cell.wire], self.started)
        answerable(scenario.steps, self.started.answer)
        playable(scenario.steps, self.wires[cell.wire], self.started)
        confirmation = Confirmation(dict(scenario.decisions), scenario.decides_by)
        mock_run = self._mock_run(
            cell.wire,
            scenario,
            confirmation=confirmation,
            habits=self._habits[cell, profile],
            rest=self._rest,
            after=after,
            mark=mark,
        )
        mock_run.model = options.model
        mock_run.answer_tool = self.started.answer
        mock_run.offered = options.offered
        tools = [(tool.name, tool.description) for tool in options.offered]
        tools += [(tool.name, tool.description) for one in scenario.servers for tool in one.server.tools]
        mock_run.names = Names.of(tools)
        several = bool(options.actor.children or options.agents)
        mock_run.instructions = [one.instructions for one in options.agents]
        if options.offered and (options.agents or not several):
            mock_run.prompt = [*(() if after is None else after.prompt), *(text for _, text in options.messages)]
        run = self._run(cell, options.messages, mock_run)
        run.offered = [name for name, _ in tools]
        other = options.keep_rounds is not None, options.context is not None, after, options.history, options.agents
        run.pruned = any(other)
        run.nested, run.limit = several, options.limit
        message = case_message.case(
            options,
            cell,
            self._provider.open(mock_run, after),
            name=name,
            profile=profile,
            id=run.id,
            servers=mock_run.tool_servers.paths() if mock_run.tool_servers else None,
        )
        if options.as_file:
            as_guide = self.started.reads_guide(profile)
            case_message.with_files(message, options, cell, self._folder / run.id, as_guide=as_guide)
        trace = None
        transcript = mock_run.transcript
        if options.telemetry:
            trace = case_message.with_telemetry(message, self._provider.telemetry)
            self._provider.spans.open(trace, transcript)
        future = self._connection.run(run.id, message, Chunks(transcript))
        transcript.handed_over = transcript.now()
        return Running(self, mock_run, run, future, trace)

    def _pulse(self) -> Pulse:
        """The pulse of the implementation, if only the driver and what it has started ask the provider."""
        self._see_who_asks()
        return Pulse() if self._is_watched is False else self._connection.pulse()

    def _see_who_asks(self) -> None:
        """Find out, where it is not known yet, whether only the driver and what it has started ask the provider."""
        if self._is_watched is not None:
            return
        asks = {peer: self._connection.asks_from(*peer) for peer in self._provider.peers}
        still = self._provider.peers  # one that was closed while it was looked for was not found for that reason
        known = [own for peer, own in asks.items() if own or (own is False and peer in still)]
        self._is_watched = all(known) if known else None

    def _run(self, cell: Cell, prompt: tuple[tuple[str, str], ...], mock_run: MockRun) -> Run:
        if self._is_watched is None:
            mock_run.transcript.watchers.append(self._on_event)
        return super()._run(cell, prompt, mock_run)

    def _on_event(self, event: Event) -> None:
        """A request has arrived: its client waits for the reply, so that the connection can be found."""
        if isinstance(event, Received):
            self._see_who_asks()

    def cancel(self, running: Running) -> None:
        """Tell the driver to cancel the run."""
        self._connection.cancel(running.run.id)

    def rest(self) -> None:
        """Wait until the implementation has taken in what it was sent, and waits for more.

        The provider's own `Rest` looks from another thread, and sees the one that waits here at work.
        """
        come_to_rest(self._pulse, LONGEST_REST)

    def renew(self) -> None:
        """Let the next run find nothing that earlier ones have left in the driver."""
        self._connection.renew()

    def standstill(self) -> Standstill:
        """Looks whether all that the driver has started waits for ever, and the provider owes it nothing.

        Where somebody else may be at work, as behind a driver for a service that it did not start, nothing is seen.
        """
        return Standstill(
            lambda: self._pulse() if self._is_watched else Pulse(),
            lambda: self._provider.owes,
            lambda: [self._provider.port],
        )

    def give_up(self, running: Running, nothing: Nothing) -> None:
        """Raise DriverFault if neither the run nor one that it goes on with has asked; else the loop is to blame."""
        fault = self._connection.abandon(running.run.id, begun=bool(running.run.requests) or running.mock_run.goes_on)
        if fault is not None and fault.kind != "hung":
            raise fault
        if not running.run.requests and not running.mock_run.goes_on:
            detail = f"run {running.run.id}: no model request, and it {nothing}"
            mend = ASKED_BEFORE if self._has_asked else ASKS_ELSEWHERE
            raise DriverFault("hung", detail, stderr=fault.stderr if fault else "", run=running.run.id, mend=mend)

    def settle(self, running: Running) -> None:
        """Wait until no further event of a run with an outcome can arrive, and add its spans."""
        if may_go_on(running.mock_run):
            settle(running.mock_run, self._provider, self._pulse, self.patience.gate)
        if running.trace is not None:
            self._fetch(running.run, running.trace)

    def clear(self, running: Running) -> Exception | None:
        """Close the trace of its spans too."""
        self._has_asked = self._has_asked or bool(running.run.requests)
        broken = super().clear(running)
        if running.trace is None:
            return broken
        self._provider.spans.close(running.trace, None if isinstance(running.run.outcome, Nothing) else running.run.id)
        return broken or self._provider.spans.broken

    def _fetch(self, run: Run, trace: str) -> None:
        """Add the spans of a run that its driver keeps in this process to the transcript.

        Raises:
            DriverFault: the driver keeps something other than spans.
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
            raise DriverFault(
                "bad-message", f"the driver's span_exporter cannot be read: {error!r}", run=run.id
            ) from error
        if others and not len(run.spans):
            why = f"the driver's span_exporter holds {others} spans with unknown trace ids"
            transcript.append(LostSpans(transcript.now(), why))


class ServerBench(Bench):
    """A server that runs the loop itself: looptck is its client and its model."""

    def __init__(self, driver: str, servers: Servers, patience: Patience) -> None:
        from looptck.bench.client.visit import Visits  # with an HTTP client, which no loop needs

        super().__init__(driver, servers, patience, port=servers.port, most=MOST_ASKED)
        self.servers = servers
        self.visits: Visits = Visits(patience.outcome)
        self._scripted_model: ScriptedModel | None = None
        self._asked: list[Running] = []
        """The requests without a reply so far."""
        self._logs: dict[str, tuple[Log, int]] = {}
        """The log of the server that each run asks, and how long it was before, by the id of the run."""

    @property
    def can_be_started_twice(self) -> bool:
        """Not if it is running already, or looks for its model on one port."""
        return self.servers.port == 0

    def _start(self) -> None:
        self.servers.between(self.origin + shared.MODEL, self.origin + shared.DISPATCH)
        super()._start()
        if self.started.can(MODEL):
            self._scripted_model = ScriptedModel(self.servers, self._folder)
            self._scripted_model.load(Script())
        elif not self.can_be_started_twice:
            try:
                self.servers.url(USUAL)  # where nothing answers, no check has anything to judge
            except DriverFault:
                self.servers.stop()
                raise

    def _close_files(self) -> None:
        if self._scripted_model is not None:
            self._scripted_model.close()
        super()._close_files()

    def ask(self, scenario: Scenario, cell: Cell, ask: Ask, *, setup: str = USUAL) -> Running:
        """Send a request as a client; model and tools follow the scenario in its present state."""
        scripted = None
        if self._scripted_model is not None:
            scripted = self._scripted_model.load(scenario.script, ask.session, alone=not self._asked)
        url = self.servers.url(setup)
        mock_run = self._mock_run(UPSTREAM, scenario)
        run = self._run(cell, (("user", ask.question),), mock_run)
        run.offered = [tool.name for tool in ask.tools]
        run.pruned = True
        run.scripted = scripted
        self._provider.share(mock_run, ask.question, [*run.offered, *scenario.behaviours])
        if (log := self.servers.log(setup)) is not None:
            self._logs[run.id] = log, log.size
        run.reply, future = self.visits.begin(url, ask, cell.wire, mock_run.transcript, stream=cell.stream)
        running = Running(self, mock_run, run, future)
        self._asked.append(running)
        return running

    def leave(self) -> None:
        """The check is over. A server whose model is a file is restarted if it still works on a request."""
        if self._scripted_model is not None and self._asked:
            self._scripted_model.unload()
            for running in list(self._asked):
                self.clear(running)

    def clear(self, running: Running) -> Exception | None:
        """Remove it from the open requests too, and read what the server has written meanwhile."""
        self._asked = [one for one in self._asked if one is not running]
        if (found := self._logs.pop(running.run.id, None)) is not None:
            log, start = found
            running.run.log = log.since(start)
        return super().clear(running)
