"""What is read from a context after what was written to it."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptck_reference.agent_loop_010.calls import METHODS, Call
from looptck_reference.agent_loop_010.context import Context
from looptck_reference.agent_loop_010.expressions import MISSING, Path, read
from looptck_reference.agent_loop_010.messages import data, error_message, text, visible

DATE = "2025-12-01T00:00:00Z"
KEYS = st.sampled_from(["a", "b"])
PLACES = st.lists(KEYS, max_size=3).map(tuple)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 9) | st.text("xy", max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=2),
    max_leaves=4,
)
WRITES = st.lists(st.tuples(PLACES, st.sampled_from(METHODS), VALUES), max_size=8)


def call(path: str | None, method: str | None = None, **meta: Any) -> Call:
    """A call that writes to a path."""
    return Call.read({"_tool": "t", "x": "†input.x", "_outputPath": path, "_outputMethod": method, **meta})


def written(*writes: tuple[str, str, Any], before: tuple[Any, ...] = ()) -> Context:
    """A context in which calls wrote these values: path, method, value."""
    context = Context(before)
    for path, method, value in writes:
        context.write(call(path, method), value, DATE)
    return context


def found(context: Context, reference: str, instance: str | None = None) -> Any:
    """What a reference finds."""
    path = read(reference)
    assert isinstance(path, Path)
    return context.look(path, instance)


@pytest.mark.parametrize(
    ("reference", "value"),
    [
        ("†state.user.name", "Alex"),
        ("†state.empty", None),
        ("†state", {"user": {"name": "Alex"}, "empty": None}),
        ("†input.rows.1.id", 7),
        ("†input.rows.01.id", MISSING),
        ("†input.rows.2", MISSING),
        ("†input.rows.-1", MISSING),
        ("†input.numbered.0", "an object's key"),
        ("†input.rows.length", MISSING),
        ("†input.name.0", MISSING),
        ("†data.n", 1),
        ("†user.n", 2),
        ("†greeting", "hello"),
        ("†greeting.0", MISSING),
        ("†error.error", "why"),
        ("†error.call._tool", "t"),
        ("†state.type", MISSING),
        ("†state._instance", MISSING),
        ("†text", MISSING),
        ("†tool.weather", MISSING),
        ("†plan", MISSING),
        ("†nowhere", MISSING),
    ],
)
def test_messages_are_read_by_their_kind(reference: str, value: object) -> None:
    """State and input by their type, data by its kind or as `data`; what is no data has no path."""
    context = Context(
        [
            text("hello"),
            {"type": "tool", "tool": {"weather": {}}},
            {"type": "plan", "plan": []},
            {"type": "state", "user": {"name": "Alex"}, "empty": None},
            {"type": "input", "input": {"rows": [{}, {"id": 7}], "numbered": {"0": "an object's key"}, "name": "ab"}},
            data(None, {"n": 1}),
            data("user", {"n": 2}),
            data("greeting", "hello"),
            error_message({"_tool": "t"}, "why"),
            {"type": "data"},
            {"type": "input"},
        ]
    )

    assert value == found(context, reference)


def test_a_result_says_where_it_came_from() -> None:
    """It is appended as a data message with the raw call, the date and the method, which the model does not see."""
    context = Context([text("hello")])
    one = call("†state.user.name", "merge", _instance="①")

    messages = context.write(one, "Alex", DATE)

    assert [text("hello"), *messages] == context.messages
    assert [
        {
            "type": "data",
            "kind": "state",
            "data": {"user": {"name": "Alex"}},
            "_instance": "①",
            "_call": one.raw,
            "_date": DATE,
            "_outputMethod": "merge",
        }
    ] == messages
    assert {"type": "data", "kind": "state", "data": {"user": {"name": "Alex"}}, "_instance": "①"} == visible(
        messages[0]
    )


def test_a_result_goes_to_every_path_or_to_the_first() -> None:
    """`&&` fans out, a plain value takes the first of `||`, and without a path nothing is stored."""
    context = Context([])

    assert 2 == len(context.write(call("†state.a && †audit.b"), 1, DATE))
    assert 1 == len(context.write(call("†state.c || †state.d"), 2, DATE))
    assert [] == context.write(call(None), 3, DATE)
    assert {"a": 1, "c": 2} == found(context, "†state")
    assert {"b": 1} == found(context, "†audit")


def test_what_only_looks_like_a_message_can_be_stored() -> None:
    """The output of a latent call is a value, and without a path it is none of the context's."""
    value = text("hello")
    context = Context([])

    assert [] == context.store(call(None), value, DATE)
    assert 1 == len(context.store(call("†state.a"), value, DATE))
    assert value == found(context, "†state.a")


def test_messages_of_a_kind_are_patches() -> None:
    """Those that no call wrote name no path, and are merged; a method applies to each of their fields."""
    context = Context(
        [
            data("user", {"name": "John", "tags": ["a"], "home": {"city": "Austin", "zip": 1}}),
            data("user", {"age": 30, "home": {"zip": 2}}),
            data("user", {"tags": "b", "new": 1}, _outputMethod="push"),
            data("user", {"home": {"zip": 3}}, _outputMethod="assign"),
        ]
    )

    assert {
        "name": "John",
        "age": 30,
        "tags": ["a", "b"],
        "new": [1],
        "home": {"city": "Austin", "zip": 3},
    } == found(context, "†user")


def test_a_kind_need_not_be_an_object() -> None:
    """Then a method applies to all of it."""
    context = Context([data("log", ["a"]), data("log", "b", _outputMethod="push")])
    context.write(call("†log", "push"), "c", DATE)

    assert ["a", "b", "c"] == found(context, "†log")


@pytest.mark.parametrize("origin", [{"_outputPath": "†"}, {"_outputPath": "†state.else"}, {"_outputPath": 1}, {}, "t"])
def test_a_result_whose_call_does_not_lead_to_it_is_a_patch(origin: object) -> None:
    """A context may come from anywhere."""
    context = Context([data("state", {"a": {"b": 1}}), data("state", {"a": {"c": 2}}, _call=origin)])

    assert {"b": 1, "c": 2} == found(context, "†state.a")


@pytest.mark.parametrize(
    ("method", "base", "value", "result"),
    [
        ("set", {"a": 1}, {"b": 2}, {"b": 2}),
        ("merge", {"a": {"b": 1, "c": [1]}}, {"a": {"c": [2]}, "d": 3}, {"a": {"b": 1, "c": [2]}, "d": 3}),
        ("assign", {"a": {"b": 1}, "e": 1}, {"a": {"c": 2}}, {"a": {"c": 2}, "e": 1}),
        ("push", [1], [2], [1, [2]]),
        ("concat", [1], [2, 3], [1, 2, 3]),
        ("concat", [1], 2, [1, 2]),
        ("concat", [1], "b", [1, "b"]),
        ("concat", "a", "b", "ab"),
        ("merge", [1], {"a": 1}, {"a": 1}),
        ("merge", {"a": 1}, None, None),
        ("assign", 1, {"a": 1}, {"a": 1}),
        ("push", {"a": 1}, 2, [2]),
        ("concat", None, "b", "b"),
        ("concat", "a", ["b"], ["b"]),
    ],
)
def test_methods_combine_a_result_with_what_is_there(method: str, base: object, value: object, result: object) -> None:
    """What is there and does not fit the method counts as nothing."""
    context = written(("†state.x.y", "set", base), ("†state.x.y", method, value))

    assert result == found(context, "†state.x.y")


@pytest.mark.parametrize(
    ("method", "value", "result"),
    [("merge", {"a": 1}, {"a": 1}), ("assign", {}, {}), ("push", 1, [1]), ("concat", "a", "a"), ("concat", [1], [1])],
)
def test_methods_begin_with_nothing(method: str, value: object, result: object) -> None:
    """Without a base an empty one is taken."""
    assert result == found(written(("†state.x", method, value)), "†state.x")


def test_an_element_of_an_array_can_be_written() -> None:
    """By its index; an index that the array has not is no element."""
    context = written(
        ("†state.rows", "set", [{"id": 1}, {"id": 2}]),
        ("†state.rows.1.done", "set", True),
        ("†state.rows.0", "merge", {"done": False}),
    )

    assert [{"id": 1, "done": False}, {"id": 2, "done": True}] == found(context, "†state.rows")


def plain(base: Any, method: str, value: Any) -> Any:
    """One write, said as plainly as possible; `...` is nothing."""
    match method, base, value:
        case "merge", dict(), dict():
            return base | {key: plain(base.get(key, ...), "merge", one) for key, one in value.items()}
        case "assign", dict(), dict():
            return base | value
        case "push", list(), _:
            return [*base, value]
        case "push", _, _:
            return [value]
        case ("concat", list(), list()) | ("concat", str(), str()):
            return base + value
        case "concat", list(), _:
            return [*base, value]
        case ("concat", _, list()) | ("concat", _, str()):
            return value
        case "concat", _, _:
            return [value]
        case _:
            return value


@given(WRITES, PLACES)
def test_any_writes_are_read_as_their_fold(
    writes: list[tuple[tuple[str, ...], str, Any]], place: tuple[str, ...]
) -> None:
    """Reading any path gives what a tree holds to which the writes were done one after the other."""
    tree: dict[str, Any] = {}
    for keys, method, value in writes:
        here = tree
        for key in ("root", *keys)[:-1]:
            if not isinstance(here.get(key), dict):
                here[key] = {}
            here = here[key]
        last = ("root", *keys)[-1]
        here[last] = deepcopy(plain(here.get(last, ...), method, value))
    wanted: Any = tree
    for key in ("root", *place):
        wanted = wanted.get(key, MISSING) if isinstance(wanted, dict) else MISSING

    context = written(*((str(Path("state", keys)), method, value) for keys, method, value in writes))

    assert wanted == context.look(Path("state", place))


@given(st.lists(st.tuples(st.sampled_from(["set", "concat", "push"]), st.lists(st.integers(0, 9), max_size=2))))
def test_writes_to_one_path_are_read_back_to_the_newest_set(writes: list[tuple[str, list[int]]]) -> None:
    """Searching newest to oldest until a `set`, and applying from there on what was passed."""
    collected: list[tuple[str, list[int]]] = []
    for method, value in reversed(writes):
        collected.insert(0, (method, value))
        if method == "set":
            break
    wanted: list[Any] = []
    for method, value in collected:
        wanted += [value] if method == "push" else value

    context = written(*(("†state.list", method, value) for method, value in writes))

    assert (wanted if writes else MISSING) == found(context, "†state.list")


@given(WRITES, WRITES)
def test_messages_never_change(before: list[Any], after: list[Any]) -> None:
    """Reading and writing leave every message as it was appended."""
    context = written(*((str(Path("state", keys)), method, value) for keys, method, value in before))
    kept = deepcopy(context.messages)

    for keys, method, value in after:
        context.write(call(str(Path("state", keys)), method), value, DATE)
        context.look(Path("state"))

    assert kept == context.messages[: len(kept)]
