"""Random graphs of Calls, the schedules in which they are played, and an oracle that says what a right loop does.

A graph is what a model asks for in one turn: calls whose parameters are literals or references to what other calls
write, without cycles. The oracle is a topological simulation without any time in it. It plays a graph in moves: either
the stream goes on to its next hold, or some of the running calls complete; after each of them those calls begin, and no
others, for which all that they refer to has come.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain, repeat
from operator import itemgetter
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from looptck.framing import NATURAL, Framing

MOST = 8
"""The most calls of a graph."""
SHARED = "†state.shared"
"""The path that two calls of a graph may both write."""


@dataclass(frozen=True, slots=True)
class Node:
    """A call of a graph, the only one of its tool: what the model gives it, where its result goes, what that is.

    A parameter that begins with a dagger is a reference; no literal does.
    """

    tool: str
    parameters: Mapping[str, Any]
    path: str
    value: Any

    @property
    def references(self) -> list[str]:
        """The paths that it refers to."""
        return [value for value in self.parameters.values() if _refers(value)]

    def __str__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        return f"{self.tool}({given}) → {self.path} = {self.value!r}"


@dataclass(frozen=True, slots=True)
class Graph:
    """Calls in the order in which the model writes them, and how they are played."""

    calls: tuple[Node, ...]
    schedule: tuple[str, ...]
    """All tools: of those that run, the first here completes first."""
    pulses: tuple[int, ...] = ()
    """Move by move: 0, the stream goes on; n, up to n calls complete together. Beyond them, one call a move."""
    holds: tuple[int, ...] = ()
    """Behind how many calls the stream is held, in rising order."""
    framing: Framing = NATURAL
    escaped: bool = False
    """Whether the document has escapes in place of what is beyond ASCII."""

    def __str__(self) -> str:
        odd = {one.name: getattr(self.framing, one.name) for one in fields(self.framing)}
        odd = {name: value for name, value in odd.items() if value != getattr(NATURAL, name)}
        how = f"completing in the order {self.schedule}, by {self.pulses}, held behind {self.holds}, cut as {odd}"
        return "\n".join([*map(str, self.calls), how + ", escaped" * self.escaped])

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """For hypothesis, which tells the values for which a property fails."""
        printer.text(str(self))

    def writers(self, path: str) -> list[Node]:
        """The calls that write a path, or the value that has it as a key."""
        return [node for node in self.calls if path in {node.path, _own(node)}]

    def completes_alone(self, node: Node) -> bool:
        """Whether others write its path: then all that was released has to be known to be in the context."""
        return len(self.writers(node.path)) > 1

    def is_witnessed(self, node: Node, said: int) -> bool:
        """Whether a call that the model has said shows, as it begins, that the result of this one has been written."""
        return any(_own(node) in one.references for one in self.calls[:said])


@dataclass(frozen=True, slots=True)
class Move:
    """What happens next, and what has to begin then, with its arguments."""

    passed: int
    """How many holds of the stream have been let go by then."""
    completed: tuple[str, ...]
    """The tools whose calls complete in this move."""
    begin: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Play:
    """A graph played to its end."""

    moves: tuple[Move, ...]
    state: Mapping[str, Any]
    """Values by path."""

    @property
    def ran(self) -> list[tuple[str, Mapping[str, Any]]]:
        """Tools and arguments, by the name of the tool."""
        return sorted((item for move in self.moves for item in move.begin.items()), key=itemgetter(0))


def play(graph: Graph, *, held: bool) -> Play:
    """What a right loop does with a graph. ``held``: the stream is held as the graph says; else it comes at once.

    Raises:
        ValueError: some of its calls wait for each other, or for what nobody writes.
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
    """Of the running calls those that may complete together, in the order of the schedule.

    A call that shares its path completes by itself, and once the call that tells of it has been said.
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
    """The value at a path or at a key below it; nothing where there is none."""
    above, _, key = path.rpartition(".")
    if path in state:
        return [state[path]]
    return [state[above][key]] if above in state and key in state[above] else []


def _refers(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("†")


def _own(node: Node) -> str:
    """What only the result of this call has, whoever else writes its path."""
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
    """Any graph in which each path has one writer."""
    nodes: list[Node] = []
    for _ in range(draw(st.integers(2, MOST), label="calls")):
        nodes.append(_node(draw, nodes, [node.path for node in nodes]))
    return _played(draw, nodes)


@st.composite
def graphs_with_two_writers(draw: DrawFn) -> Graph:
    """Any graph in which one path has two writers, and each of the two has a call that tells when it was written."""
    nodes: list[Node] = []
    for _ in range(draw(st.integers(0, 2), label="calls before the writers")):
        nodes.append(_node(draw, nodes, [node.path for node in nodes]))
    before = [node.path for node in nodes]
    for _ in range(2):
        node = _node(draw, nodes, before)
        nodes.append(replace(node, path=SHARED, value={node.tool: node.value}))
    for writer in nodes[-2:]:
        nodes.append(replace(_node(draw, nodes, []), parameters={"p1": _own(writer)}))
    for _ in range(draw(st.integers(0, MOST - len(nodes)), label="calls behind the writers")):
        nodes.append(_node(draw, nodes, [node.path for node in nodes]))
    return _played(draw, nodes)


def _node(draw: DrawFn, others: Sequence[Node], paths: Sequence[str]) -> Node:
    """One more call, that refers to some of these paths."""
    tool = f"call{len(others) + 1}"
    given = draw(st.lists(_LITERALS, max_size=2), label="literals")
    known = list(dict.fromkeys(paths))
    wanted = min(draw(st.sampled_from((0, 1, 1, 2, 3)), label="number of references"), len(known))
    if wanted:
        given += draw(st.lists(st.sampled_from(known), min_size=wanted, max_size=wanted, unique=True))
    parameters = {f"p{number}": value for number, value in enumerate(given, 1)}
    return Node(tool, parameters, f"†state.of_{tool}", [tool, draw(_LITERALS, label="result")])


def _played(draw: DrawFn, nodes: Sequence[Node]) -> Graph:
    """These calls in any order of the stream and of completion, in any cuts."""
    return Graph(
        tuple(draw(st.permutations(nodes), label="the order in the stream")),
        tuple(draw(st.permutations([node.tool for node in nodes]), label="the order of completion")),
        tuple(draw(st.lists(st.integers(0, 3), max_size=12), label="pulses")),
        tuple(sorted(draw(st.sets(st.integers(1, len(nodes)), max_size=4), label="holds"))),
        draw(_FRAMINGS, label="framing"),
        draw(st.booleans(), label="escaped"),
    )


_FRAMINGS: SearchStrategy[Framing] = st.one_of(
    st.just(NATURAL),
    st.builds(Framing, fragment=st.sampled_from([1, 2, 3, 5, 8, 13, 20]), escaped=st.booleans()),
    st.builds(Framing, fragment=st.integers(6, 20), escaped=st.booleans(), every=st.integers(30, 400)),
    st.builds(
        Framing,
        fragment=st.integers(3, 20),
        escaped=st.booleans(),
        cuts=st.lists(st.integers(1, 4000), max_size=6).map(tuple),
    ),
)
"""A call never fits into one fragment, so that the stream can be held behind each."""
