"""Profile ``agent-loop-010``: how results are stored in the context, and what later calls read from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import strategies as st

from looptck.bench.bench import Scenario
from looptck.bench.checks import Implementation, lengthy, on, requirement
from looptck.bench.solutions import call, embedded, solution, texts
from looptck.provider import gates
from looptck.provider.gate import Gate
from looptck.provider.toolbox import Returns
from looptck.spec.agent_loop_010.probes import DONE, probe_turn, probed_values, tools
from looptck.values.transcript import Event, Received
from looptck.values.verdicts import NotReached

X = {"value": "†state.x"}
SEEN = call("seen", X)
"""A call that begins once the first of two writers has completed."""

BY_START = [
    call("two", {"value": "†state.go"}, to="†state.x"),
    SEEN,
    call("go", to="†state.go"),
    call("one", to="†state.x"),
]
"""The call that is listed first begins last."""

WRITERS = {
    "first-listed-is-last": ([call("one", to="†state.x"), call("two", to="†state.x"), SEEN], ("two", "one")),
    "last-listed-is-last": ([call("one", to="†state.x"), call("two", to="†state.x"), SEEN], ("one", "two")),
    "first-begun-is-last": (BY_START, ("two", "one")),
    "last-begun-is-last": (BY_START, ("one", "two")),
}
"""Calls, and the two of them that write to one path, in the order in which they are to complete."""


@requirement("loop010-last-to-complete-wins")
@pytest.mark.parametrize(("calls", "order"), WRITERS.values(), ids=WRITERS)
def test_the_last_to_complete_wins(
    scenario: Scenario, implementation: Implementation, calls: Sequence[dict[str, Any]], order: tuple[str, str]
) -> None:
    """Another call has read the first writer's result before the second writer ends."""
    earlier, later = order
    scenario.returns(earlier, "the earlier value")
    scenario.does(later, Returns("the later value", hold=gates.tool_began("seen")))
    scenario.plays(solution(*calls), probe_turn("state.x"), DONE)

    run = implementation.run(tools=tools("one", "two", "go", "seen"))

    shown = probed_values(run, 2)
    if run.gave_up or run.ran_of("seen").arguments != {"value": "the earlier value"}:
        raise NotReached(f"{later} should have ended when the value of {earlier} had been read")
    assert {"state.x": "the later value"} == shown


@requirement("loop010-last-to-complete-wins")
def test_a_later_turn_wins(scenario: Scenario, implementation: Implementation) -> None:
    """A later value replaces a value of the context and one of an earlier turn."""
    write = solution(call("one", to="†state.x"))
    scenario.returns("two", "the later value")
    scenario.plays(write, solution(call("two", to="†state.x")), probe_turn("state.x"), DONE)

    run = implementation.run(tools=tools("one", "two"), context=[{"type": "state", "x": "the first of all"}])

    assert {"state.x": "the later value"} == probed_values(run, 3)


USER = {"user": {"name": "Alex", "status": "active"}}
KINDS: dict[str, dict[str, Any]] = {
    "state": {"type": "state", **USER},
    "data": {"type": "data", "data": USER},
    "account": {"type": "data", "kind": "account", "data": USER},
}
"""Messages with the same content, by the kind under which it is read."""


@requirement("loop010-older-nested-values-stay")
@pytest.mark.parametrize(("kind", "message"), KINDS.items(), ids=KINDS)
def test_what_stands_beside_stays(
    scenario: Scenario, implementation: Implementation, kind: str, message: dict[str, Any]
) -> None:
    """One of two fields is written: it has the new value, and the other field keeps its own."""
    scenario.returns("fetch", "inactive")
    status, name = f"{kind}.user.status", f"{kind}.user.name"
    scenario.plays(solution(call("fetch", to=f"†{status}")), probe_turn(status, name), DONE)

    run = implementation.run(tools=tools("fetch"), context=[message])

    assert {status: "inactive", name: "Alex"} == probed_values(run, 2)


@requirement("loop010-older-nested-values-stay")
def test_results_stand_beside_each_other(scenario: Scenario, implementation: Implementation) -> None:
    """Three calls write to paths below one path, two of them in one turn, and every value can be read."""
    for name in ("a", "b", "c"):
        scenario.returns(name, f"the result of {name}")
    first = solution(call("a", to="†state.user.a"), call("b", to="†state.user.deep.b"))
    paths = ["state.user.a", "state.user.deep.b", "state.user.deep.c"]
    scenario.plays(first, solution(call("c", to="†state.user.deep.c")), probe_turn(*paths), DONE)

    run = implementation.run(tools=tools("a", "b", "c"))

    assert dict(zip(paths, (f"the result of {name}" for name in "abc"), strict=True)) == probed_values(run, 3)


@requirement("loop010-older-nested-values-stay")
def test_a_whole_of_parts(scenario: Scenario, implementation: Implementation) -> None:
    """Whether parts that were written separately can be read as a whole, and survive a new whole, is left open."""
    scenario.returns("fetch", "inactive")
    scenario.returns("anew", {"age": 30})
    write = solution(call("fetch", to="†state.user.status"), call("anew", to="†state.other"))
    scenario.plays(write, probe_turn("state.user", "state.user.status", "state.other.name"), DONE)
    context = [{"type": "state", **USER, "other": USER["user"]}]

    run = implementation.run(tools=tools("fetch", "anew"), context=context)

    shown = probed_values(run, 2)
    assert "inactive" == shown.get("state.user.status")
    whole = {"name": "Alex", "status": "inactive"} == shown.get("state.user")
    implementation.diverges("the whole of parts that were written separately", "all of them" if whole else "the newest")
    kept = "can still be read" if "state.other.name" in shown else "is gone"
    implementation.diverges("older values below a path that is overwritten", kept)


Writes = Sequence[tuple[str | None, Any]]
"""Method and value of each write to one path; the first write sets it."""

ARRAY = st.lists(st.integers(0, 9), max_size=3)
OBJECT = st.dictionaries(
    st.sampled_from("ab"),
    st.integers(0, 9) | st.dictionaries(st.sampled_from("cd"), st.integers(0, 9), max_size=2),
    max_size=2,
)


def _writes(base: st.SearchStrategy[Any], more: st.SearchStrategy[tuple[str, Any]]) -> st.SearchStrategy[Writes]:
    """A value that is set, two additions, one more addition or a new value, and a last addition."""
    anew = st.tuples(st.sampled_from(["set", None]), base)
    return st.tuples(anew, more, more, anew | more, more)


PATHS: st.SearchStrategy[list[Writes]] = st.lists(
    _writes(ARRAY, st.tuples(st.just("push"), st.integers(0, 9) | ARRAY) | st.tuples(st.just("concat"), ARRAY))
    | _writes(OBJECT, st.tuples(st.sampled_from(["merge", "assign"]), OBJECT)),
    min_size=1,
    max_size=5,
)

HISTORIES: dict[str, Writes] = {
    "push": [("set", [1]), ("push", 2), ("push", [3])],
    "concat": [("set", [1]), ("concat", [2, 3]), ("concat", [[4]])],
    "merge": [("set", {"a": {"c": 1}, "b": 1}), ("merge", {"a": {"d": 2}}), ("merge", {"b": 2})],
    "assign": [("set", {"a": {"c": 1}, "b": 1}), ("assign", {"a": {"d": 2}})],
    "set": [("set", [1]), ("push", 2), ("set", [9]), ("push", 3)],
    "without-method": [(None, [1]), ("push", 2), (None, [9]), ("push", 3)],
    "merge-then-assign": [("set", {"a": {"c": 1}}), ("merge", {"a": {"d": 2}}), ("assign", {"a": {"c": 3}})],
    "assign-then-merge": [("set", {"a": {"c": 1}}), ("assign", {"a": {"c": 3}}), ("merge", {"a": {"d": 2}})],
    "push-then-concat": [("set", []), ("push", [1]), ("concat", [2]), ("push", 3)],
    "concat-then-push": [("set", []), ("concat", [2]), ("push", [1]), ("concat", [3])],
}


def _folded(writes: Writes) -> Any:
    """The value of a path after all of its writes."""
    held: Any = None
    for method, value in writes:
        match method:
            case "push":
                held = [*held, value]
            case "concat":
                held = [*held, *value]
            case "assign":
                held = {**held, **value}
            case "merge":
                held = _merged(held, value)
            case _:
                held = value
    return held


def _merged(held: Any, value: Any) -> Any:
    if not isinstance(held, dict) or not isinstance(value, dict):
        return value
    return {**held, **{name: _merged(held.get(name), one) for name, one in value.items()}}


def _written(scenario: Scenario, implementation: Implementation, histories: Sequence[Writes]) -> None:
    """Write to many paths, once to each in every turn, and compare their values in the end."""
    turns = max(map(len, histories))
    for n, writes in enumerate(histories):
        scenario.does(f"write{n}", *(Returns(value) for _, value in writes))
    written = [
        solution(
            *(
                call(f"write{n}", to=f"†state.path{n}", method=writes[turn][0])
                for n, writes in enumerate(histories)
                if turn < len(writes)
            )
        )
        for turn in range(turns)
    ]
    paths = [f"state.path{n}" for n in range(len(histories))]
    scenario.plays(*written, probe_turn(*paths), DONE)

    run = implementation.run(tools=tools(*(f"write{n}" for n in range(len(histories)))))

    assert dict(zip(paths, map(_folded, histories), strict=True)) == probed_values(run, turns + 1)


@requirement("loop010-methods-fold-in-order")
@pytest.mark.parametrize("writes", HISTORIES.values(), ids=HISTORIES)
def test_methods_fold(scenario: Scenario, implementation: Implementation, writes: Writes) -> None:
    """Each method changes the existing value in the way that its name says."""
    _written(scenario, implementation, [writes])


@requirement("loop010-methods-fold-in-order")
@lengthy
@on("openai-chat/plain/*")
def test_any_methods_fold(scenario: Scenario, implementation: Implementation) -> None:
    """Any writes to any number of paths yield the same values as a fold of the writes of each path."""

    @implementation.every(PATHS)
    def _(histories: list[Writes]) -> None:
        _written(scenario, implementation, histories)


@requirement("loop010-methods-fold-in-order")
def test_methods_fold_by_completion(scenario: Scenario, implementation: Implementation) -> None:
    """The call that pushes is written first and ends last: it adds to the value that the other call has set."""
    scenario.returns("base", [1])
    scenario.does("add", Returns(2, hold=gates.tool_began("seen")))
    write = solution(call("add", to="†state.x", method="push"), call("base", to="†state.x", method="set"), SEEN)
    scenario.plays(write, probe_turn("state.x"), DONE)

    run = implementation.run(tools=tools("base", "add", "seen"))

    shown = probed_values(run, 2)
    if run.gave_up:
        raise NotReached("the call that adds should have ended after another had read the value that was set")
    assert {"state.x": [1, 2]} == shown


OWN = ("_call", "_date", "_outputMethod")


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """The JSON objects in a value, at any depth."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _objects(inner)


@requirement("loop010-own-keys-are-hidden")
@pytest.mark.parametrize("path", ["†state.x", "†state.deep.x", "†data.x", "†account.x"])
@pytest.mark.parametrize("method", [None, "set"], ids=["without-method", "set"])
def test_own_keys_are_hidden(scenario: Scenario, implementation: Implementation, path: str, method: str | None) -> None:
    """Both later Requests contain the value of a result, and none of the keys that name its origin."""
    scenario.returns("fetch", "marker7431")
    scenario.plays(solution(call("fetch", {"value": 1}, to=path, method=method)), solution(), DONE)

    run = implementation.run(tools=tools("fetch"))

    before = texts(run.request(1))
    for shown in (run.request(2), run.request(3)):
        if "marker7431" not in texts(shown):
            raise NotReached(f"request {shown.n} does not contain the result at all")
        assert [] == [
            key for one in _objects(embedded(shown)) if "marker7431" in str(one) for key in OWN if key in one
        ], "a Request shows a result with keys that are to be hidden"
        for key in OWN[:2]:
            assert before.count(key) == texts(shown).count(key), f"request {shown.n} shows the hidden key {key}"


@requirement("loop010-no-path-stores-nothing")
def test_no_path_stores_nothing(scenario: Scenario, implementation: Implementation) -> None:
    """Of two results, the model reads the one with a path, and never the one without."""
    scenario.returns("note", "marker1964")
    scenario.returns("fetch", "marker2893")
    scenario.does("last", Returns("a result", hold=gates.tool_ended("note")))
    scenario.plays(
        solution(call("note"), call("fetch", to="†state.x")), solution(call("last", to="†state.y")), solution(), DONE
    )

    run = implementation.run(tools=tools("note", "fetch", "last"))

    run.tool_ended("note")
    for n in (2, 3, 4):
        if "marker2893" not in texts(run.request(n)):
            raise NotReached(f"control: request {n} does not contain the result that has a path")
        assert "marker1964" not in texts(run.request(n)), f"request {n} contains a result that was not to be stored"


@requirement("loop010-no-path-stores-nothing")
@on("openai-chat")
def test_whether_anybody_waits(scenario: Scenario, implementation: Implementation) -> None:
    """Whether the next Request waits for a call without a path is left open."""
    asked = Gate("request 2", _second, gates.ABSENCE)
    scenario.does("note", Returns("a result", hold=asked))
    scenario.plays(solution(call("note")), DONE)

    run = implementation.run(tools=tools("note"))

    run.request(2)
    run.tool_began("note")
    implementation.diverges(
        "a call without an output path", "is awaited" if run.gave_up else "runs on while the model is asked again"
    )


def _second(event: Event) -> bool:
    return isinstance(event, Received) and event.n == 2
