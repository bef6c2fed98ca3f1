"""Profile ``agent-loop-010``: how results are stored in the context, and what later calls read from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import strategies as st

from looptck.bench.checks import Implementation, lengthy, on, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.solutions import call, solution
from looptck.provider import gates
from looptck.provider.toolbox import Returns
from looptck.spec.agent_loop_010.probes import DONE, probe_turn, probed_values, tools
from looptck.values.plain import plain
from looptck.values.verdicts import NotReached

WITNESSES = (call("first", to="†state.first"), call("second", {"value": "†state.first"}, to="†state.second"))
"""Calls that show when an earlier result is stored, for ``first`` ends behind it and ``second`` begins after that.

They do not refer to its path: a loop may let readers of a path wait for all of its writers.
"""
BY_START = [
    call("two", {"value": "†state.go"}, to="†state.x"),
    call("go", to="†state.go"),
    call("one", to="†state.x"),
]
"""The call that is listed first begins last."""

WRITERS = {
    "first-listed-is-last": ([call("one", to="†state.x"), call("two", to="†state.x")], ("two", "one")),
    "last-listed-is-last": ([call("one", to="†state.x"), call("two", to="†state.x")], ("one", "two")),
    "first-begun-is-last": (BY_START, ("two", "one")),
    "last-begun-is-last": (BY_START, ("one", "two")),
}
"""Calls, and the two of them that write to one path, in the order in which they are to complete."""


def _ends_behind(scenario: Scenario, earlier: str, later: str, value: Any) -> None:
    """Let a call return a value once the result of an earlier call is stored, as `WITNESSES` show."""
    scenario.does("first", Returns("a result", hold=gates.tool_ended(earlier)))
    scenario.does(later, Returns(value, hold=gates.tool_began("second")))


def _ended_behind(run: Run, earlier: str, later: str) -> None:
    """Raises NotReached if the earlier call did not end, and its result was not stored, before the later call ended."""
    if run.gave_up or run.tool_ended(earlier) > run.tool_ended(later):
        raise NotReached(f"{later} should have ended when the result of {earlier} had been stored")


@requirement("loop010-last-to-complete-wins")
@pytest.mark.parametrize(("calls", "order"), WRITERS.values(), ids=WRITERS)
def test_the_last_to_complete_wins(
    scenario: Scenario, implementation: Implementation, calls: Sequence[dict[str, Any]], order: tuple[str, str]
) -> None:
    """The second writer ends when the result of the first has been stored."""
    earlier, later = order
    scenario.returns(earlier, "the earlier value")
    _ends_behind(scenario, earlier, later, "the later value")
    scenario.plays(solution(*calls, *WITNESSES), probe_turn("state.x"), DONE)

    run = implementation.run(tools=tools("one", "two", "go", "first", "second"))

    shown = probed_values(run, 2)
    _ended_behind(run, earlier, later)
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

    shown = probed_values(run, turns + 1)
    wrong = [
        f"after {_told(writes)} the path holds {plain(shown.get(path, 'no value'))}, not {plain(_folded(writes))}"
        for path, writes in zip(paths, histories, strict=True)
        if path not in shown or _folded(writes) != shown[path]
    ]
    assert not wrong, "; ".join(wrong)


def _told(writes: Writes) -> str:
    """The writes in words: ``set [1], push 2``."""
    return ", ".join(f"{method or 'set'} {plain(value)}" for method, value in writes)


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
    _ends_behind(scenario, "base", "add", 2)
    writers = call("add", to="†state.x", method="push"), call("base", to="†state.x", method="set")
    scenario.plays(solution(*writers, *WITNESSES), probe_turn("state.x"), DONE)

    run = implementation.run(tools=tools("base", "add", "first", "second"))

    shown = probed_values(run, 2)
    _ended_behind(run, "base", "add")
    assert {"state.x": [1, 2]} == shown
