"""Profile ``agent-loop-010``: what results become in the context, and what is read from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import strategies as st

from looptck.checks import Implementation, lengthy, on, requirement
from looptck.kit import Scene
from looptck.provider import gates
from looptck.provider.gates import Gate
from looptck.provider.toolbox import Returns
from looptck.solutions import call, embedded, solution, texts
from looptck.spec.probes import DONE, probed, probing, tools
from looptck.transcript import Event, Received
from looptck.verdicts import NotReached

X = {"value": "†state.x"}
SEEN = call("seen", X)
"""Begins when the first of two writers has completed."""

BY_START = [
    call("two", {"value": "†state.go"}, to="†state.x"),
    SEEN,
    call("go", to="†state.go"),
    call("one", to="†state.x"),
]
"""The first of them to be listed is the last to begin."""

WRITERS = {
    "first-listed-is-last": ([call("one", to="†state.x"), call("two", to="†state.x"), SEEN], ("two", "one")),
    "last-listed-is-last": ([call("one", to="†state.x"), call("two", to="†state.x"), SEEN], ("one", "two")),
    "first-begun-is-last": (BY_START, ("two", "one")),
    "last-begun-is-last": (BY_START, ("one", "two")),
}
"""Calls, and the two of them that write to one path in the order in which they are to complete."""


@requirement("loop010-last-to-complete-wins")
@pytest.mark.parametrize(("calls", "order"), WRITERS.values(), ids=WRITERS)
def test_the_last_to_complete_wins(
    provider: Scene, implementation: Implementation, calls: Sequence[dict[str, Any]], order: tuple[str, str]
) -> None:
    """The first writer's result has been read by another call before the second one ends."""
    earlier, later = order
    provider.returns(earlier, "the earlier value")
    provider.does(later, Returns("the later value", hold=gates.tool_began("seen")))
    provider.plays(solution(*calls), probing("state.x"), DONE)

    run = implementation.run(tools=tools("one", "two", "go", "seen"))

    told = probed(run, 2)
    if run.gave_up or run.ran_of("seen").arguments != {"value": "the earlier value"}:
        raise NotReached(f"{later} should have ended when the value of {earlier} had been read")
    assert {"state.x": "the later value"} == told


@requirement("loop010-last-to-complete-wins")
def test_a_later_turn_wins(provider: Scene, implementation: Implementation) -> None:
    """A value of the context and one of an earlier turn are superseded."""
    write = solution(call("one", to="†state.x"))
    provider.returns("two", "the later value")
    provider.plays(write, solution(call("two", to="†state.x")), probing("state.x"), DONE)

    run = implementation.run(tools=tools("one", "two"), context=[{"type": "state", "x": "the first of all"}])

    assert {"state.x": "the later value"} == probed(run, 3)


USER = {"user": {"name": "Alex", "status": "active"}}
KINDS: dict[str, dict[str, Any]] = {
    "state": {"type": "state", **USER},
    "data": {"type": "data", "data": USER},
    "account": {"type": "data", "kind": "account", "data": USER},
}
"""Messages that say the same, by the kind under which they are read."""


@requirement("loop010-older-nested-values-stay")
@pytest.mark.parametrize(("kind", "message"), KINDS.items(), ids=KINDS)
def test_what_stands_beside_stays(
    provider: Scene, implementation: Implementation, kind: str, message: dict[str, Any]
) -> None:
    """One field of two is written: it has the new value, and the other one its own."""
    provider.returns("fetch", "inactive")
    status, name = f"{kind}.user.status", f"{kind}.user.name"
    provider.plays(solution(call("fetch", to=f"†{status}")), probing(status, name), DONE)

    run = implementation.run(tools=tools("fetch"), context=[message])

    assert {status: "inactive", name: "Alex"} == probed(run, 2)


@requirement("loop010-older-nested-values-stay")
def test_results_stand_beside_each_other(provider: Scene, implementation: Implementation) -> None:
    """Three calls write below one path, two of them at once, and what each has written can be read."""
    for name in ("a", "b", "c"):
        provider.returns(name, f"the result of {name}")
    first = solution(call("a", to="†state.user.a"), call("b", to="†state.user.deep.b"))
    paths = ["state.user.a", "state.user.deep.b", "state.user.deep.c"]
    provider.plays(first, solution(call("c", to="†state.user.deep.c")), probing(*paths), DONE)

    run = implementation.run(tools=tools("a", "b", "c"))

    assert dict(zip(paths, (f"the result of {name}" for name in "abc"), strict=True)) == probed(run, 3)


@requirement("loop010-older-nested-values-stay")
def test_a_whole_of_parts(provider: Scene, implementation: Implementation) -> None:
    """What the whole of parts is that were written apart, and what a new whole leaves of them, is left open."""
    provider.returns("fetch", "inactive")
    provider.returns("anew", {"age": 30})
    write = solution(call("fetch", to="†state.user.status"), call("anew", to="†state.other"))
    provider.plays(write, probing("state.user", "state.user.status", "state.other.name"), DONE)
    context = [{"type": "state", **USER, "other": USER["user"]}]

    run = implementation.run(tools=tools("fetch", "anew"), context=context)

    told = probed(run, 2)
    assert "inactive" == told.get("state.user.status")
    whole = {"name": "Alex", "status": "inactive"} == told.get("state.user")
    implementation.diverges("the whole of parts that were written apart", "all of them" if whole else "the newest")
    kept = "can be read still" if "state.other.name" in told else "is gone"
    implementation.diverges("what stood below a path that is written anew", kept)


Writes = Sequence[tuple[str | None, Any]]
"""Method and value of each write to one path; the first of them sets it."""

ARRAY = st.lists(st.integers(0, 9), max_size=3)
OBJECT = st.dictionaries(
    st.sampled_from("ab"),
    st.integers(0, 9) | st.dictionaries(st.sampled_from("cd"), st.integers(0, 9), max_size=2),
    max_size=2,
)


def _writes(base: st.SearchStrategy[Any], more: st.SearchStrategy[tuple[str, Any]]) -> st.SearchStrategy[Writes]:
    """A value that is set, two that are added to it, one that may be set again, and one more."""
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
    """What a path holds after all of its writes."""
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


def _written(provider: Scene, implementation: Implementation, histories: Sequence[Writes]) -> None:
    """Write to many paths at once, one write to each in a turn, and compare what they hold in the end."""
    turns = max(map(len, histories))
    for n, writes in enumerate(histories):
        provider.does(f"write{n}", *(Returns(value) for _, value in writes))
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
    provider.plays(*written, probing(*paths), DONE)

    run = implementation.run(tools=tools(*(f"write{n}" for n in range(len(histories)))))

    assert dict(zip(paths, map(_folded, histories), strict=True)) == probed(run, turns + 1)


@requirement("loop010-methods-fold-in-order")
@pytest.mark.parametrize("writes", HISTORIES.values(), ids=HISTORIES)
def test_methods_fold(provider: Scene, implementation: Implementation, writes: Writes) -> None:
    """Each method does what it is called, upon what was there."""
    _written(provider, implementation, [writes])


@requirement("loop010-methods-fold-in-order")
@lengthy
@on("openai-chat/plain/*")
def test_any_methods_fold(provider: Scene, implementation: Implementation) -> None:
    """Any writes to any number of paths come to the same as one fold for each."""

    @implementation.every(PATHS)
    def _(histories: list[Writes]) -> None:
        _written(provider, implementation, histories)


@requirement("loop010-methods-fold-in-order")
def test_methods_fold_by_completion(provider: Scene, implementation: Implementation) -> None:
    """The call that pushes stands first and ends last: it adds to what the other one has set."""
    provider.returns("base", [1])
    provider.does("add", Returns(2, hold=gates.tool_began("seen")))
    write = solution(call("add", to="†state.x", method="push"), call("base", to="†state.x", method="set"), SEEN)
    provider.plays(write, probing("state.x"), DONE)

    run = implementation.run(tools=tools("base", "add", "seen"))

    told = probed(run, 2)
    if run.gave_up:
        raise NotReached("the call that adds should have ended when another had read what is set")
    assert {"state.x": [1, 2]} == told


OWN = ("_call", "_date", "_outputMethod")


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """The JSON objects in a value, however deep."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _objects(inner)


@requirement("loop010-own-keys-are-hidden")
@pytest.mark.parametrize("path", ["†state.x", "†state.deep.x", "†data.x", "†account.x"])
@pytest.mark.parametrize("method", [None, "set"], ids=["without-method", "set"])
def test_own_keys_are_hidden(provider: Scene, implementation: Implementation, path: str, method: str | None) -> None:
    """The model is told the value of a result, in both Requests behind it, and nothing of where it came from."""
    provider.returns("fetch", "marker7431")
    provider.plays(solution(call("fetch", {"value": 1}, to=path, method=method)), solution(), DONE)

    run = implementation.run(tools=tools("fetch"))

    before = texts(run.request(1))
    for told in (run.request(2), run.request(3)):
        if "marker7431" not in texts(told):
            raise NotReached(f"request {told.n} does not tell the result at all")
        assert [] == [
            key for one in _objects(embedded(told)) if "marker7431" in str(one) for key in OWN if key in one
        ], "a result is told with keys of its own"
        for key in OWN[:2]:
            assert before.count(key) == texts(told).count(key), f"request {told.n} tells the model of {key}"


@requirement("loop010-no-path-stores-nothing")
def test_no_path_stores_nothing(provider: Scene, implementation: Implementation) -> None:
    """The result of one call of two is told to the model, and that of the one without a path never is."""
    provider.returns("note", "marker1964")
    provider.returns("fetch", "marker2893")
    provider.does("last", Returns("a result", hold=gates.tool_ended("note")))
    provider.plays(
        solution(call("note"), call("fetch", to="†state.x")), solution(call("last", to="†state.y")), solution(), DONE
    )

    run = implementation.run(tools=tools("note", "fetch", "last"))

    run.tool_ended("note")
    for n in (2, 3, 4):
        if "marker2893" not in texts(run.request(n)):
            raise NotReached(f"control: request {n} does not tell the result that has a path")
        assert "marker1964" not in texts(run.request(n)), f"request {n} tells a result that was not to be stored"


@requirement("loop010-no-path-stores-nothing")
@on("openai-chat")
def test_whether_anybody_waits(provider: Scene, implementation: Implementation) -> None:
    """Whether the next Request waits for a call without a path is left open."""
    asked = Gate("request 2", _second, gates.ABSENCE)
    provider.does("note", Returns("a result", hold=asked))
    provider.plays(solution(call("note")), DONE)

    run = implementation.run(tools=tools("note"))

    run.request(2)
    run.tool_began("note")
    implementation.diverges(
        "a call without an output path", "is awaited" if run.gave_up else "runs on while the model is asked again"
    )


def _second(event: Event) -> bool:
    return isinstance(event, Received) and event.n == 2
