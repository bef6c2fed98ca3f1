"""The oracle of random graphs is right, and their schedules are what they say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from looptck.bench.solutions import behind, call, solution
from looptck.spec.agent_loop_010.graphs import SHARED, Graph, Move, Node, graphs, graphs_with_two_writers, play
from looptck.spec.agent_loop_010.test_graphs import EVENTFUL, OVERWRITTEN

EITHER = st.one_of(graphs(), graphs_with_two_writers())
HELD = st.booleans()


def _node(tool: str, *references: str, path: str | None = None, value: Any = None) -> Node:
    """A call with these references."""
    parameters = {f"p{number}": reference for number, reference in enumerate(references, 1)}
    return Node(tool, parameters, path or f"†state.{tool}", f"of {tool}" if value is None else value)


DIAMOND = (
    _node("join", "†state.left", "†state.right"),
    _node("left", "†state.root"),
    _node("right", "†state.root"),
    _node("root"),
)
ROOT: dict[str, Any] = {"p1": "of root"}
JOINED = {"join": {"p1": "of left", "p2": "of right"}}


def test_a_diamond() -> None:
    """Each call begins when the last of what it refers to has come, with what that has written."""
    graph = Graph(DIAMOND, ("root", "right", "left", "join"))

    played = play(graph, held=False)

    assert played.moves == (
        Move(0, (), {"root": {}}),
        Move(0, ("root",), {"left": ROOT, "right": ROOT}),
        Move(0, ("right",), {}),
        Move(0, ("left",), JOINED),
        Move(0, ("join",), {}),
    )
    assert {f"†state.{tool}": f"of {tool}" for tool in ("root", "left", "right", "join")} == played.state
    assert ["join", "left", "right", "root"] == [tool for tool, _ in played.ran]


def test_two_complete_together() -> None:
    """A pulse of two: what needs both begins once."""
    graph = Graph(DIAMOND, ("root", "right", "left", "join"), pulses=(1, 2))

    assert (Move(0, ("right", "left"), JOINED), Move(0, ("join",), {})) == play(graph, held=False).moves[2:]


def test_a_held_stream() -> None:
    """What has not been said cannot begin; what was said and is free does so before the stream goes on."""
    graph = Graph(tuple(reversed(DIAMOND)), ("root", "left", "right", "join"), pulses=(1, 0, 1), holds=(1, 2))

    assert play(graph, held=True).moves == (
        Move(0, (), {"root": {}}),
        Move(0, ("root",), {}),
        Move(1, (), {"right": ROOT}),
        Move(1, ("right",), {}),
        Move(2, (), {"left": ROOT}),
        Move(2, ("left",), JOINED),
        Move(2, ("join",), {}),
    )
    assert play(graph, held=False) == play(Graph(graph.calls, graph.schedule, (1, 1)), held=False)


def test_the_last_writer_wins() -> None:
    """A call that begins between two writes reads the first, one that begins behind both the second."""
    old, new = {"first": "old"}, {"second": "new"}

    played = play(OVERWRITTEN, held=False)

    assert {"p1": new, "p2": ["slow", 3]} == dict(played.ran)["reads"]
    assert new == played.state[SHARED]
    order = ("second", "first", "slow", "sees_first", "sees_second", "reads")
    assert old == play(Graph(OVERWRITTEN.calls, order), held=False).state[SHARED]


def test_a_writer_waits_for_its_witness() -> None:
    """Before the call is said that tells of its result, a result that another may overwrite does not come."""
    graph = Graph(
        (
            _node("a", path=SHARED, value={"a": 1}),
            _node("b", path=SHARED, value={"b": 2}),
            _node("sees_a", f"{SHARED}.a"),
            _node("sees_b", f"{SHARED}.b"),
        ),
        ("b", "a", "sees_a", "sees_b"),
        pulses=(3, 3),
        holds=(3,),
    )

    assert (
        Move(0, (), {"a": {}, "b": {}}),
        Move(0, ("a",), {"sees_a": {"p1": 1}}),
        Move(0, ("sees_a",), {}),
        Move(1, (), {}),
        Move(1, ("b",), {"sees_b": {"p1": 2}}),
        Move(1, ("sees_b",), {}),
    ) == play(graph, held=True).moves


@pytest.mark.parametrize(
    "calls", [(_node("a", "†state.b"), _node("b", "†state.a")), (_node("a", "†state.nowhere"),)], ids=["cycle", "gap"]
)
def test_what_can_never_begin(calls: tuple[Node, ...]) -> None:
    """The oracle says so, in place of an end that no loop comes to."""
    with pytest.raises(ValueError, match="can never begin"):
        play(Graph(calls, tuple(node.tool for node in calls)), held=False)


@given(EITHER, HELD)
def test_every_call_begins_once_and_completes_once(graph: Graph, held: bool) -> None:
    """In each schedule, and what runs completes before the end."""
    played = play(graph, held=held)
    tools = sorted(node.tool for node in graph.calls)

    assert tools == [tool for tool, _ in played.ran]
    assert tools == sorted(tool for move in played.moves for tool in move.completed)
    assert {node.path for node in graph.calls} == played.state.keys()


@given(EITHER, HELD)
def test_no_call_begins_before_it_can(graph: Graph, held: bool) -> None:
    """By then it has been said, and one writer of each path that it refers to has completed."""
    stops = [*(graph.holds if held else ()), len(graph.calls)]
    completed: set[str] = set()
    for move in play(graph, held=held).moves:
        completed |= {*move.completed}
        for node in graph.calls:
            if node.tool in move.begin:
                assert node in graph.calls[: stops[move.passed]]
                assert all(completed & {one.tool for one in graph.writers(path)} for path in node.references)


@given(EITHER, HELD)
def test_no_call_begins_later_than_it_can(graph: Graph, held: bool) -> None:
    """With all that it refers to there, one of two things has just happened: it was said, or one of those completed."""
    stops = [*(graph.holds if held else ()), len(graph.calls)]
    said = 0
    for move in play(graph, held=held).moves:
        new = {node.tool for node in graph.calls[said : stops[move.passed]]}
        said = stops[move.passed]
        for node in graph.calls:
            if node.tool in move.begin and node.tool not in new:
                assert {one.tool for path in node.references for one in graph.writers(path)} & {*move.completed}


@given(graphs(), st.randoms(use_true_random=False), HELD)
def test_schedules_do_not_matter(graph: Graph, random: Any, held: bool) -> None:
    """Where each path has one writer: so says the oracle of what it judges loops by."""
    calls, schedule = list(graph.calls), list(graph.schedule)
    random.shuffle(calls)
    random.shuffle(schedule)
    other = play(Graph(tuple(calls), tuple(schedule), holds=graph.holds), held=held)
    one = play(graph, held=held)

    assert (one.ran, one.state) == (other.ran, other.state)


@given(graphs_with_two_writers(), HELD)
def test_the_two_writers_are_told_apart(graph: Graph, held: bool) -> None:
    """Each completes by itself, and with it a call begins that can begin with no other result."""
    writers = {node.tool for node in graph.writers(SHARED)}
    assert 2 == len(writers)

    for move in play(graph, held=held).moves:
        if writers & {*move.completed}:
            [tool] = move.completed
            assert any(f"{SHARED}.{tool}" in node.references for node in graph.calls if node.tool in move.begin)


@given(EITHER)
def test_the_stream_can_be_held_behind_each_call(graph: Graph) -> None:
    """What leaves before a hold has no call that comes behind it."""
    turn = solution(*(call(node.tool, node.parameters, to=node.path) for node in graph.calls), escaped=graph.escaped)
    whole = turn.text or ""

    for said in graph.holds:
        at = len(behind(turn, said))
        size = graph.framing.fragment
        assert said == len(graph.calls) or at + size <= len(behind(turn, said + 1))
        assert whole.startswith(behind(turn, said))


WANTED: dict[str, Callable[[Graph], bool]] = {
    "many-at-once": lambda graph: any(2 < len(move.begin) for move in play(graph, held=True).moves[1:]),
    "three-needed": lambda graph: any(3 == len(node.references) for node in graph.calls),
    "before-what-it-needs": lambda graph: bool(graph.calls[0].references),
    "single-characters": lambda graph: 1 == graph.framing.fragment,
    "bytes": lambda graph: 0 < graph.framing.every < 100,
    "cuts": lambda graph: bool(graph.framing.cuts),
    "escapes": lambda graph: graph.escaped and "😀" in str(graph),
    "holds": lambda graph: 2 < len(graph.holds),
    "together": lambda graph: any(2 < len(move.completed) for move in play(graph, held=True).moves),
}


@pytest.fixture(name="some", scope="module")
def _some() -> list[Graph]:
    """As many as one check plays by default, ten times."""
    found: list[Graph] = []

    @settings(max_examples=250, derandomize=True, database=None, phases=[Phase.generate])
    @given(graphs())
    def search(graph: Graph) -> None:
        found.append(graph)

    search()
    return found


@pytest.mark.parametrize("wanted", WANTED.values(), ids=WANTED)
def test_there_are_such_graphs(some: list[Graph], wanted: Callable[[Graph], bool]) -> None:
    """The strategy reaches what faults hide behind."""
    assert any(map(wanted, some))


@pytest.mark.parametrize("graph", [EVENTFUL, OVERWRITTEN], ids=["eventful", "overwritten"])
def test_a_graph_is_told_in_few_words(graph: Graph) -> None:
    """A line for each call, and one for how they are played, in which no usual framing is told."""
    told = str(graph).splitlines()

    assert len(graph.calls) + 1 == len(told)
    assert "newline" not in told[-1]
