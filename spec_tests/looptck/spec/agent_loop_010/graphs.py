"""Random graphs of Calls, the schedules in which they are played, and an oracle of what a correct loop does.

A graph holds the calls of one turn. Their parameters are literals, or references to values that other calls write,
without cycles. The oracle is a topological simulation that has no notion of time. It plays a graph in moves: in each
move, either the stream continues to its next hold, or some of the running calls complete. After each move, exactly
those calls begin whose references can all be resolved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from itertools import chain, repeat
from operator import itemgetter
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from looptck.values.framing import DEFAULT, Framing
from looptck.values.frozen import dataclass

MOST = 8
"""The maximum number of calls in a graph."""
SHARED = "†state.shared"
"""The path that two calls of a graph may both write."""


@dataclass(frozen=True, slots=True)
class Node:
    """A call of a graph, the only call of its tool: its parameters, its output path and its result.

    A parameter that begins with a dagger is a reference; no literal begins with one.
    """

    tool: str
    parameters: Mapping[str, Any]
    path: str
    value: Any

    @property
    def references(self) -> list[str]:
        """The paths that its parameters refer to."""
        return [value for value in self.parameters.values() if _refers(value)]

    def __str__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        return f"{self.tool}({given}) → {self.path} = {self.value!r}"


@dataclass(frozen=True, slots=True)
class Graph:
    """Calls in the order in which the model writes them, and the schedule in which they are played."""

    calls: tuple[Node, ...]
    schedule: tuple[str, ...]
    """The tools in order of completion: of the calls that run, the one listed first completes first."""
    pulses: tuple[int, ...] = ()
    """One number for each move: 0 means that the stream continues, n that up to n calls complete together.

    After the last number, one call completes in each move.
    """
    holds: tuple[int, ...] = ()
    """The numbers of calls after which the stream is held, in ascending order."""
    framing: Framing = DEFAULT
    escaped: bool = False
    """Whether characters beyond ASCII are escaped in the document."""

    def __str__(self) -> str:
        odd = {one.name: getattr(self.framing, one.name) for one in fields(self.framing)}
        odd = {name: value for name, value in odd.items() if value != getattr(DEFAULT, name)}
        how = f"completing in the order {self.schedule}, by {self.pulses}, held after {self.holds}, cut as {odd}"
        return "\n".join([*map(str, self.calls), how + ", escaped" * self.escaped])

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """The form in which hypothesis prints a failing example."""
        printer.text(str(self))

    def writers(self, path: str) -> list[Node]:
        """The calls that write a path, or write a value that has it as a key."""
        return [node for node in self.calls if path in {node.path, _own(node)}]

    def completes_alone(self, node: Node) -> bool:
        """Whether other calls write its path, so that all calls released before have to be in the context first."""
        return len(self.writers(node.path)) > 1

    def is_witnessed(self, node: Node, said: int) -> bool:
        """Whether a call that the model has already written shows, by starting, that this result is stored."""
        return any(_own(node) in one.references for one in self.calls[:said])


@dataclass(frozen=True, slots=True)
class Move:
    """What happens next, and which calls have to begin then, with their arguments."""

    passed: int
    """The number of holds of the stream that have been released by then."""
    completed: tuple[str, ...]
    """The tools whose calls complete in this move."""
    begin: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Play:
    """A graph that was played to its end."""

    moves: tuple[Move, ...]
    state: Mapping[str, Any]
    """The final values by path."""

    @property
    def ran(self) -> list[tuple[str, Mapping[str, Any]]]:
        """The arguments of each tool that ran, sorted by name."""
        return sorted((item for move in self.moves for item in move.begin.items()), key=itemgetter(0))


def play(graph: Graph, *, held: bool) -> Play:
    """Simulate how a correct loop runs a graph.

    ``held``: the stream is held where the graph says; otherwise it arrives at once.
    """
    stops = [*(graph.holds if held else ()), len(graph.calls)]
    pulses = chain((0,), graph.pulses, repeat(1))
    said, passed = 0, -1
    state: dict[str, Any] = {}
    begun: dict[str, Mapping[str, Any]] = {}
    completed: list[str] = []
    moves: list[Move] = []
    while len(completed) < len(graph.calls):
        pulse = next(pulses)
        running = [node for node in graph.calls if node.tool in begun.keys() - completed]
        ready = list(_releasable(graph, running, said))[: pulse or 1]
        if stops and not (pulse and ready):
            said, passed, ready = stops.pop(0), passed + 1, []
        elif not ready:
            raise ValueError(f"{[node.tool for node in graph.calls if node.tool not in begun]} can never begin")
        state |= {node.path: node.value for node in ready}
        completed += (node.tool for node in ready)
        begin = {node.tool: _arguments(node, state) for node in graph.calls[:said] if _begins(node, state, begun)}
        begun |= begin
        moves.append(Move(passed, tuple(node.tool for node in ready), begin))
    return Play(tuple(moves), state)


def _releasable(graph: Graph, running: Sequence[Node], said: int) -> Iterator[Node]:
    """The running calls that may complete together, in the order of the schedule.

    A call that shares its path completes alone, and only once the model has written the call that reads its result.
    """
    allowed = [node for node in running if not graph.completes_alone(node) or graph.is_witnessed(node, said)]
    for at, node in enumerate(sorted(allowed, key=lambda node: graph.schedule.index(node.tool))):
        if at and graph.completes_alone(node):
            return
        yield node
        if graph.completes_alone(node):
            return


def _begins(node: Node, state: Mapping[str, Any], begun: Mapping[str, Any]) -> bool:
    return node.tool not in begun and all(_found(path, state) for path in node.references)


def _arguments(node: Node, state: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _found(value, state)[0] if _refers(value) else value for name, value in node.parameters.items()}


def _found(path: str, state: Mapping[str, Any]) -> list[Any]:
    """The value at a path, or at a key below it; nothing if there is none."""
    above, _, key = path.rpartition(".")
    if path in state:
        return [state[path]]
    return [state[above][key]] if above in state and key in state[above] else []


def _refers(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("†")


def _own(node: Node) -> str:
    """The path below the output path that only this call's result has, whoever else writes the output path."""
    return f"{node.path}.{node.tool}"


_TEXT = (
    st.lists(st.sampled_from(["a", "1", " ", "† ", '"', "\\", "\n", "é", "東", "😀", "{", "]", "\u2028"]), max_size=6)
    .map("".join)
    .filter(lambda text: not text.lstrip().startswith("†"))
)
_LITERALS: SearchStrategy[Any] = (
    st.integers(-99, 99)
    | _TEXT
    | st.none()
    | st.booleans()
    | st.lists(_TEXT, max_size=2)
    | st.dictionaries(st.sampled_from(["a", "é", "x y"]), _TEXT, max_size=2)
)


@st.composite
def graphs(draw: DrawFn) -> Graph:
    """Graphs in which each path has one writer."""
    nodes: list[Node] = []
    for _ in range(draw(st.integers(2, MOST), label="calls")):
        nodes.append(_node(draw, nodes, [node.path for node in nodes]))
    return _played(draw, nodes)


@st.composite
def graphs_with_two_writers(draw: DrawFn) -> Graph:
    """Graphs in which one path has two writers, and each writer has a call that shows when its value was stored."""
    nodes: list[Node] = []
    for _ in range(draw(st.integers(0, 2), label="calls before the writers")):
        nodes.append(_node(draw, nodes, [node.path for node in nodes]))
    before = [node.path for node in nodes]
    for _ in range(2):
        node = _node(draw, nodes, before)
        nodes.append(replace(node, path=SHARED, value={node.tool: node.value}))
    for writer in nodes[-2:]:
        nodes.append(replace(_node(draw, nodes, []), parameters={"p1": _own(writer)}))
    for _ in range(draw(st.integers(0, MOST - len(nodes)), label="calls after the writers")):
        nodes.append(_node(draw, nodes, [node.path for node in nodes]))
    return _played(draw, nodes)


def _node(draw: DrawFn, others: Sequence[Node], paths: Sequence[str]) -> Node:
    """One more call, which refers to some of these paths."""
    tool = f"call{len(others) + 1}"
    given = draw(st.lists(_LITERALS, max_size=2), label="literals")
    known = list(dict.fromkeys(paths))
    wanted = min(draw(st.sampled_from((0, 1, 1, 2, 3)), label="number of references"), len(known))
    if wanted:
        given += draw(st.lists(st.sampled_from(known), min_size=wanted, max_size=wanted, unique=True))
    parameters = {f"p{number}": value for number, value in enumerate(given, 1)}
    return Node(tool, parameters, f"†state.of_{tool}", [tool, draw(_LITERALS, label="result")])


def _played(draw: DrawFn, nodes: Sequence[Node]) -> Graph:
    """These calls in any order of the stream and of completion, cut anywhere."""
    return Graph(
        tuple(draw(st.permutations(nodes), label="the order in the stream")),
        tuple(draw(st.permutations([node.tool for node in nodes]), label="the order of completion")),
        tuple(draw(st.lists(st.integers(0, 3), max_size=12), label="pulses")),
        tuple(sorted(draw(st.sets(st.integers(1, len(nodes)), max_size=4), label="holds"))),
        draw(_FRAMINGS, label="framing"),
        draw(st.booleans(), label="escaped"),
    )


_FRAMINGS: SearchStrategy[Framing] = st.one_of(
    st.just(DEFAULT),
    st.builds(Framing, fragment=st.sampled_from([1, 2, 3, 5, 8, 13, 20]), escaped=st.booleans()),
    st.builds(Framing, fragment=st.integers(6, 20), escaped=st.booleans(), every=st.integers(30, 400)),
    st.builds(
        Framing,
        fragment=st.integers(3, 20),
        escaped=st.booleans(),
        cuts=st.lists(st.integers(1, 4000), max_size=6).map(tuple),
    ),
)
"""No call fits into one fragment, so the stream can be held after each call."""
