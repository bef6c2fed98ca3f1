"""Profile ``agent-loop-010``: any graph of calls, in any order, in any cuts, completing in any order."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from looptck.agents import Tool
from looptck.checks import Implementation, requirement
from looptck.framing import NATURAL
from looptck.provider.gates import Gate
from looptck.provider.script import Hold, Step
from looptck.provider.toolbox import Returns
from looptck.run import Run
from looptck.solutions import behind, call, solution
from looptck.spec import graphs
from looptck.spec.graphs import SHARED, Graph, Move, Node, Play, play
from looptck.spec.probes import DONE, probed, probing, tools
from looptck.transcript import Event, Received, ToolBegan, ToolEnded
from looptck.verdicts import NotReached

Body = Callable[[Graph], None]
LOSSES = 12
"""How many lost wake-ups are waited for in one check."""
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
    framing=NATURAL.but(fragment=1),
)
"""Calls that stand before what they wait for; four that wait for one, one that waits for three and sees calls begin and
end meanwhile of which it knows nothing, and one that runs from the beginning to the end."""
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
"""A value is overwritten while a call that reads it waits for another one."""


class Conductor:
    """Plays the moves of a graph as events come in: each is made once all has begun that the one before lets begin."""

    def __init__(self, graph: Graph, implementation: Implementation) -> None:
        self.graph = graph
        self.held = graph.holds if implementation.cell.stream else ()
        self.play = play(graph, held=bool(self.held))
        self._implementation = implementation
        self._patience = implementation.kit.patience.gate
        self._stops = [self._gate(f"call {said} has had its time") for said in self.held]
        self._releases = {node.tool: self._gate(f"{node.tool} is to complete") for node in graph.calls}
        self._through = Gate("every call has begun in its turn", self._hears)
        self._move = 0
        self._begun: set[str] = set()

    def run(self) -> Run:
        """Run the graph as one turn, and probe all paths in the next.

        Raises:
            LostWakeUp: a call did not begin when it could.
            NotReached: the schedule could not be kept to for another reason.
        """
        calls = [call(node.tool, node.parameters, to=node.path) for node in self.graph.calls]
        turn = solution(*calls, escaped=self.graph.escaped)
        holds = tuple(Hold(gate, behind(turn, said)) for gate, said in zip(self._stops, self.held, strict=True))
        paths = sorted(path.removeprefix("†") for path in self.play.state)
        scene = self._implementation.scene
        scene.plays(Step(turn, self.graph.framing, holds=holds), probing(*paths), DONE)
        scene.behaviours = {
            node.tool: [Returns(node.value, hold=self._releases[node.tool])] for node in self.graph.calls
        }
        scene.watching = (self._through,)
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
            raise LostWakeUp(f"{lost}, in\n{self.graph}")
        if run.gave_up:
            raise NotReached(f"the schedule was not kept to: {run.gave_up} took too long")
        run.request(2)
        return run

    def _hears(self, event: Event) -> bool:
        """Whether nothing is left to wait for; if this event was the last of a move, the next is made."""
        if isinstance(event, ToolBegan):
            self._begun.add(event.tool)
        while not self._late():
            if self._move + 1 == len(self.play.moves):
                return True
            self._move += 1
            self._make(self.play.moves[self._move])
        return isinstance(event, Received) and event.n > 1

    def _late(self) -> list[str]:
        """What the last move has let begin, and has not begun yet."""
        return [tool for tool in self.play.moves[self._move].begin if tool not in self._begun]

    def _make(self, move: Move) -> None:
        for gate in self._stops[: move.passed]:
            gate.open()
        for tool in move.completed:
            self._releases[tool].open()

    def _lost(self) -> str | None:
        """What should have begun by now, and why; None: all has."""
        late = self._late()
        moves = self.play.moves[: self._move + 1]
        completed = [tool for move in moves for tool in move.completed]
        running = [tool for move in moves for tool in move.begin if tool in self._begun and tool not in completed]
        return f"{late} did not begin, though {completed} had completed, while {running} ran" if late else None

    def _gate(self, name: str) -> Gate:
        """One that is never given up before what the schedule waits for."""
        return Gate(name, patience=2 * self._patience)


def _tool(node: Node) -> Tool:
    """The tool of a call, which takes its parameters."""
    schema = {"properties": {name: {} for name in node.parameters}, "required": [*node.parameters]}
    return Tool(node.tool, f"Does what {node.tool} says.", {"type": "object", **schema, "additionalProperties": False})


class LostWakeUp(AssertionError):
    """A call did not begin when all that it refers to was there."""


def _patiently(implementation: Implementation) -> Callable[[Body], Body]:
    """Runs the decorated body so that it may be shrunk in bearable time where wake-ups are lost.

    To see that takes a gate's patience. So a graph in which one was lost is not played again, and once there are
    `LOSSES` of them the others count as good: the smallest of those is told.
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
    """A graph in its schedule, for a check of something else than that calls begin when they can."""
    conductor = Conductor(graph, implementation)
    try:
        return conductor.play, conductor.run()
    except LostWakeUp as lost:
        raise NotReached(f"the schedule could not be kept to: {lost}") from lost


def _as_the_oracle_says(graph: Graph, implementation: Implementation) -> None:
    """The calls have run once each, with the values of the schedule, and what they have written stands there."""
    right, run = _conducted(graph, implementation)
    told = probed(run, 2)
    ran = [(tool, given) for tool, given in run.tools_ran if tool != PROBE.name]

    assert right.ran == sorted(ran, key=lambda of: of[0]), f"which calls run, and with what, in\n{graph}"
    assert right.state == {f"†{path}": value for path, value in told.items()}, f"what is written, in\n{graph}"


@requirement("loop010-schedules-do-not-matter")
def test_any_schedule(implementation: Implementation) -> None:
    """The oracle, which knows of no time, says what runs with what, and what is written."""

    @implementation.every(graphs.graphs(), first={"graph": EVENTFUL})
    @_patiently(implementation)
    def holds(graph: Graph) -> None:
        _as_the_oracle_says(graph, implementation)


@requirement("loop010-last-to-complete-wins")
def test_any_schedule_of_two_writers(implementation: Implementation) -> None:
    """That each of the two has been written is seen from a call that begins with its value, and with no other."""

    @implementation.every(graphs.graphs_with_two_writers(), first={"graph": OVERWRITTEN})
    @_patiently(implementation)
    def holds(graph: Graph) -> None:
        _as_the_oracle_says(graph, implementation)


@requirement("loop010-no-wake-up-is-lost")
def test_any_wake_up(implementation: Implementation) -> None:
    """Each call begins behind the last completion that it waits for, and before the next one is let happen."""

    @implementation.every(graphs.graphs(), first={"graph": EVENTFUL})
    @_patiently(implementation)
    def holds(graph: Graph) -> None:
        run = Conductor(graph, implementation).run()

        assert [] == _too_early(graph, run), f"calls began before what they wait for had completed, in\n{graph}"


def _too_early(graph: Graph, run: Run) -> list[tuple[str, list[str]]]:
    """The calls that began before others, which are named behind them, had given what they refer to."""
    waits = {
        node.tool: [writer.tool for path in node.references for writer in graph.writers(path)] for node in graph.calls
    }
    ended: set[str] = set()
    found: list[tuple[str, list[str]]] = []
    for event in run.transcript.events:
        if isinstance(event, ToolEnded):
            ended.add(event.tool)
        elif isinstance(event, ToolBegan):
            missing = [tool for tool in waits.get(event.tool, ()) if tool not in ended]
            found += [(event.tool, missing)] if missing else []
    return found
