"""Profile ``agent-loop-010``: any graph of calls, in any order, cut anywhere, completing in any order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps

from looptck.bench.assertions.tool_runs import other_runs
from looptck.bench.checks import Implementation, requirement
from looptck.bench.run import Run
from looptck.bench.solutions import behind, call, solution
from looptck.catalogue.agents import Tool
from looptck.provider.gate import Gate
from looptck.provider.gates import tool_begins_if_ever
from looptck.provider.script import Hold, Step
from looptck.provider.toolbox import Returns
from looptck.spec.agent_loop_010 import graphs
from looptck.spec.agent_loop_010.graphs import SHARED, Graph, Move, Node, Play, play
from looptck.spec.agent_loop_010.probes import DONE, probe_turn, probed_values, tools
from looptck.values.framing import DEFAULT
from looptck.values.jsontext import canonical
from looptck.values.plain import differs
from looptck.values.transcript import Event, Received, ToolBegan, ToolEnded
from looptck.values.verdicts import NotApplicable, NotReached

Body = Callable[[Graph], None]
LOSSES = 12
"""The number of lost wake-ups for which one check waits."""
[PROBE] = tools()
ODD = "a † b\u2028😀"
EVENTFUL = Graph(
    calls=(
        Node("join", {"p1": "†state.a", "p2": "†state.b", "p3": "†state.c"}, "†state.join", ["join", 1]),
        Node("then", {"p1": "†state.join", "p2": "†state.d"}, "†state.then", ["then", ODD]),
        Node("last", {"p1": "†state.then", "p2": [ODD]}, "†state.last", ["last", False]),
        Node("a", {"p1": "†state.root"}, "†state.a", ["a", {"é": ""}]),
        Node("b", {"p1": "†state.root"}, "†state.b", ["b", None]),
        Node("c", {"p1": ODD, "p2": "†state.root"}, "†state.c", ["c", '"]}']),
        Node("d", {"p1": "†state.root"}, "†state.d", ["d", []]),
        Node("beside", {"p1": "†state.b"}, "†state.beside", ["beside", 2]),
        Node("further", {"p1": "†state.beside"}, "†state.further", ["further", 3]),
        Node("long", {}, "†state.long", ["long", 4]),
        Node("root", {"p1": None}, "†state.root", ["root", "\\"]),
    ),
    schedule=("root", "a", "b", "beside", "further", "d", "c", "join", "then", "last", "long"),
    holds=(3, 11),
    framing=DEFAULT.but(fragment=1),
)
"""Calls written before their dependencies; four calls that wait for one; a call that waits for three while unrelated
calls begin and end; and a call that runs from beginning to end."""
OVERWRITTEN = Graph(
    calls=(
        Node("first", {}, SHARED, {"first": "old"}),
        Node("second", {}, SHARED, {"second": "new"}),
        Node("sees_first", {"p1": f"{SHARED}.first"}, "†state.sees_first", ["sees_first", 1]),
        Node("sees_second", {"p1": f"{SHARED}.second"}, "†state.sees_second", ["sees_second", 2]),
        Node("slow", {"p1": "†state.sees_first"}, "†state.slow", ["slow", 3]),
        Node("reads", {"p1": SHARED, "p2": "†state.slow"}, "†state.reads", ["reads", 4]),
    ),
    schedule=("first", "sees_first", "second", "slow", "sees_second", "reads"),
)
"""A value is overwritten while a call that reads it waits for another value."""


class Conductor:
    """Plays the moves of a graph: each move is made once all calls that the move before unblocks have begun."""

    def __init__(self, graph: Graph, implementation: Implementation) -> None:
        self.graph = graph
        self.held = graph.holds if implementation.cell.stream else ()
        self.play = play(graph, held=bool(self.held))
        self._implementation = implementation
        self._patience = implementation.bench.patience.gate
        self._stops = [self._gate(f"call {said} has had time to begin") for said in self.held]
        self._releases = {node.tool: self._gate(f"{node.tool} is to complete") for node in graph.calls}
        self._through = Gate("every call has begun in its turn", self._hears, of_silence=True)
        self._move = 0
        self._begun: set[str] = set()

    def run(self) -> Run:
        """Run the graph as one turn, and probe all paths in the next.

        Raises:
            LostWakeUp: a call did not begin when it could.
            NotReached: the schedule could not be followed for another reason.
        """
        calls = [call(node.tool, node.parameters, to=node.path) for node in self.graph.calls]
        turn = solution(*calls, escaped=self.graph.escaped)
        holds = tuple(Hold(gate, behind(turn, said)) for gate, said in zip(self._stops, self.held, strict=True))
        paths = sorted(path.removeprefix("†") for path in self.play.state)
        scenario = self._implementation.scenario
        scenario.plays(Step(turn, self.graph.framing, holds=holds), probe_turn(*paths), DONE)
        scenario.behaviours = {
            node.tool: [Returns(node.value, hold=self._releases[node.tool])] for node in self.graph.calls
        }
        scenario.watching = (self._through,)
        offered = [_tool(node) for node in self.graph.calls]

        running = self._implementation.begin(tools=[*offered, PROBE])
        self._through.wait_here(self._patience)
        lost, over = self._lost(), running.future.done()
        for gate in (*self._stops, *self._releases.values()):
            gate.open()
        run = self._implementation.end(running)

        if lost and over:
            raise NotReached(f"the run was over before the schedule was, it {run.outcome}: {lost}")
        if lost:
            raise LostWakeUp(f"{lost}{_of(self.graph)}")
        if run.gave_up:
            raise NotReached(f"the schedule was not followed: {run.gave_up} took too long")
        run.request(2)
        return run

    def _hears(self, event: Event) -> bool:
        """Whether there is nothing left to wait for; if this event was the last of a move, the next move is made."""
        if isinstance(event, ToolBegan):
            self._begun.add(event.tool)
        while not self._late():
            if self._move + 1 == len(self.play.moves):
                return True
            self._move += 1
            self._make(self.play.moves[self._move])
        return isinstance(event, Received) and event.n > 1

    def _late(self) -> list[str]:
        """The calls that the last move has unblocked and that have not begun yet."""
        return [tool for tool in self.play.moves[self._move].begin if tool not in self._begun]

    def _make(self, move: Move) -> None:
        for gate in self._stops[: move.passed]:
            gate.open()
        for tool in move.completed:
            self._releases[tool].open()

    def _lost(self) -> str | None:
        """The calls that should have begun by now, with the reason; None if all have begun."""
        late = self._late()
        moves = self.play.moves[: self._move + 1]
        completed = [tool for move in moves for tool in move.completed]
        running = [tool for move in moves for tool in move.begin if tool in self._begun and tool not in completed]
        if not late:
            return None
        before = f"{_names(completed)} had completed" if completed else "nothing had to complete before"
        return f"{_names(late)} did not begin, though {before}; running then: {_names(running)}"

    def _gate(self, name: str) -> Gate:
        """A gate that is not given up before the events that the schedule waits for."""
        return Gate(name, patience=2 * self._patience, of_silence=True)


def _tool(node: Node) -> Tool:
    """The tool of a call, with its parameters."""
    schema = {"properties": {name: {} for name in node.parameters}, "required": [*node.parameters]}
    return Tool(node.tool, f"Does what {node.tool} says.", {"type": "object", **schema, "additionalProperties": False})


class LostWakeUp(AssertionError):
    """A call did not begin although all of its references could be resolved."""


def _patiently(implementation: Implementation) -> Callable[[Body], Body]:
    """Runs the decorated body so that examples with lost wake-ups can be shrunk in bearable time.

    Each lost wake-up costs a gate's patience. A graph that lost one is therefore not played again, and after `LOSSES`
    of them all other graphs count as passed: the smallest failing one is reported.
    """
    lost: dict[str, tuple[AssertionError | NotReached, Run]] = {}

    def decorate(body: Body) -> Body:
        @wraps(body)
        def patient(graph: Graph) -> None:
            key = repr(graph)
            if key in lost:
                error, run = lost[key]
                implementation.runs.append(run)
                raise error
            if len(lost) < LOSSES:
                try:
                    body(graph)
                except (LostWakeUp, NotReached) as error:
                    lost[key] = error, implementation.runs[-1]
                    raise

        return patient

    return decorate


def _conducted(graph: Graph, implementation: Implementation) -> tuple[Play, Run]:
    """Play a graph in its schedule, for a check that is not about when calls begin."""
    conductor = Conductor(graph, implementation)
    try:
        return conductor.play, conductor.run()
    except LostWakeUp as lost:
        raise NotReached(f"the schedule could not be followed: {lost}") from lost


def _matches_oracle(graph: Graph, implementation: Implementation) -> None:
    """Assert that each call ran once, with the values of the schedule, and that its results are stored."""
    right, run = _conducted(graph, implementation)
    shown = probed_values(run, 2)
    ran = [(tool, given) for tool, given in run.tools_ran if tool != PROBE.name]

    assert right.ran == sorted(ran, key=lambda of: of[0]), f"{other_runs(_pairs(right.ran), _pairs(ran))}{_of(graph)}"
    stored = {f"†{path}": value for path, value in shown.items()}
    assert right.state == stored, f"of the values that the model reads: {differs(right.state, stored)}{_of(graph)}"


def _pairs(runs: Iterable[tuple[str, object]]) -> list[tuple[str, str]]:
    return [(tool, canonical(given)) for tool, given in runs]


def _names(tools: Sequence[str]) -> str:
    return ", ".join(tools) or "none"


def _of(graph: Graph) -> str:
    """The lines of a message that show the graph."""
    return f"\nThe calls of the turn, and how they were played:\n{graph}"


@requirement("loop010-schedules-do-not-matter")
def test_any_schedule(implementation: Implementation) -> None:
    """Calls, arguments and stored values are those of the oracle, which has no notion of time."""

    @implementation.every(graphs.graphs(), first={"graph": EVENTFUL})
    @_patiently(implementation)
    def holds(graph: Graph) -> None:
        _matches_oracle(graph, implementation)


@requirement("loop010-last-to-complete-wins")
def test_any_schedule_of_two_writers(implementation: Implementation) -> None:
    """Each of two writers is seen to have completed, because a call begins with exactly its value."""
    if _waits_for_writers(implementation):
        raise NotApplicable("a call that reads a path waits for all of its writers, so none can begin between two")

    @implementation.every(graphs.graphs_with_two_writers(), first={"graph": OVERWRITTEN})
    @_patiently(implementation)
    def holds(graph: Graph) -> None:
        _matches_oracle(graph, implementation)


def _waits_for_writers(implementation: Implementation) -> bool:
    """Whether a call that reads a path waits for all calls that write it, and not for others: the choice is open."""
    again = tool_begins_if_ever("sees_first", 1)
    implementation.scenario.behaviours = {
        "first": [Returns({"first": "old"})],
        "second": [Returns({"first": "new"}, hold=again)],
    }
    writers = (call("first", to=SHARED), call("second", to=SHARED))
    readers = (
        call("sees_first", {"value": f"{SHARED}.first"}, to="†state.sees_first"),
        call("sees_beside", {"value": "†state.beside"}, to="†state.sees_beside"),
    )
    implementation.scenario.plays(solution(*writers, call("beside", to="†state.beside"), *readers), DONE)

    run = implementation.run(tools=tools("first", "second", "beside", "sees_first", "sees_beside"))

    began = {one.tool: one.began for one in run.ran}
    if not run.gave_up or {"sees_first", "sees_beside"} - began.keys():
        return False
    return began["sees_beside"] < run.tool_ended("second") <= began["sees_first"]


@requirement("loop010-no-wake-up-is-lost")
def test_any_wake_up(implementation: Implementation) -> None:
    """Each call begins after the last completion that it waits for, and before the next one is released."""

    @implementation.every(graphs.graphs(), first={"graph": EVENTFUL})
    @_patiently(implementation)
    def holds(graph: Graph) -> None:
        run = Conductor(graph, implementation).run()

        early = _too_early(graph, run)
        assert not early, f"{'; '.join(early)}{_of(graph)}"


def _too_early(graph: Graph, run: Run) -> list[str]:
    """What is to be said of the calls that began before their dependencies had completed."""
    waits = {
        node.tool: [writer.tool for path in node.references for writer in graph.writers(path)] for node in graph.calls
    }
    ended: set[str] = set()
    found: list[str] = []
    for event in run.transcript.events:
        if isinstance(event, ToolEnded):
            ended.add(event.tool)
        elif isinstance(event, ToolBegan):
            missing = [tool for tool in waits.get(event.tool, ()) if tool not in ended]
            found += [f"{event.tool} began before {_names(missing)} had completed"] if missing else []
    return found
