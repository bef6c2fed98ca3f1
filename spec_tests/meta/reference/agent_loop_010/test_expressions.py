"""References and expressions: what is one, what it needs, what it stands for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptck_reference.agent_loop_010.calls import BadCall, Call
from looptck_reference.agent_loop_010.expressions import (
    MISSING,
    AllOf,
    BadExpression,
    Expression,
    FirstOf,
    Found,
    Path,
    Unresolved,
    read,
    references,
    resolve,
    targets,
)
from meta.kit.steady import STEADY

A, B, C = Path("state", ("a",)), Path("input", ("b", "0")), Path("plan-b", ("c", "ключ"))
NAMES = st.text(st.characters(exclude_characters=".†|&", exclude_categories=["Z", "C"]), min_size=1)
PATHS = st.builds(Path, NAMES, st.lists(NAMES).map(tuple))
EXPRESSIONS = PATHS | st.builds(
    lambda kind, paths: kind(tuple(paths)), st.sampled_from([FirstOf, AllOf]), st.lists(PATHS, min_size=2)
)


def holding(**values: Any) -> Any:
    """A look into a context in which only these references, named after their last key, have a value."""

    def look(path: Path) -> Found:
        return values.get(path.keys[-1], MISSING)

    return look


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("†state.a", A),
        ("†input.b.0", B),
        ("†state", Path("state")),
        ("†state.a || †input.b.0", FirstOf((A, B))),
        ("†state.a||†input.b.0 ||†plan-b.c.ключ", FirstOf((A, B, C))),
        ("†state.a && †input.b.0", AllOf((A, B))),
        ("†state.a&&†state.a", AllOf((A, A))),
        ("†state.R&D", Path("state", ("R&D",))),
    ],
)
def test_expressions_are_read(text: str, expression: Expression) -> None:
    """Paths, alternatives and conjunctions, with spaces around an operator or without."""
    assert expression == read(text)


@pytest.mark.parametrize("text", ["", "state.a", "see †state.x", " †state.x", "a || b", "{}", "‡state.x"])
def test_text_that_does_not_begin_with_a_dagger_is_plain(text: str) -> None:
    """A reference is a whole text, not a part of one."""
    assert read(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "†",
        "† state",
        "†.a",
        "†state.",
        "†state..a",
        "††state",
        "†state.a †state.b",
        "†state.a is what it was",
        "†state.a |†state.b",
        "†state.a ||",
        "†state.a || state.b",
        "†state.a || 'none'",
        "†state.a || || †state.b",
        "†state.a && †state.b || †state.c",
    ],
)
def test_what_begins_with_a_dagger_and_is_no_expression_is_refused(text: str) -> None:
    """With the text, so that the model can see which it was."""
    with pytest.raises(BadExpression) as refused:
        read(text)

    assert repr(text) in str(refused.value)


@given(EXPRESSIONS)
@STEADY
def test_an_expression_is_written_as_it_is_read(expression: Expression) -> None:
    """Reading what was written gives the same expression."""
    assert expression == read(str(expression))


def test_references_are_found_in_nested_values() -> None:
    """In objects and arrays, however deep; in no key and in no other text."""
    value = {"†state.key": ["†state.a", {"deep": ["†input.b.0 || †state.a", 1, None, True]}], "text": "as †state.a"}

    assert [A, FirstOf((B, A))] == list(references(value))


def test_one_unreadable_reference_spoils_a_value() -> None:
    """Wherever it stands."""
    with pytest.raises(BadExpression):
        list(references(["†state.a", {"deep": "†"}]))


@pytest.mark.parametrize("value", [None, False, 0, "", [], {}, "†state.other", ["†"]])
def test_a_reference_stands_for_any_value(value: object) -> None:
    """Existence decides, and what is found is not looked into again."""
    look = holding(a=value)

    assert {"x": [value, "plain"], "y": 1} == resolve({"x": ["†state.a", "plain"], "y": 1}, look)
    assert value == resolve("†state.a || †state.b", holding(a=value, b="second"))
    assert value == resolve("†state.b || †state.a", look)
    assert value == resolve("†state.b && †state.a", holding(a=value, b=None))


@pytest.mark.parametrize("text", ["†state.c", "†state.c || †state.d", "†state.a && †state.c", "†state.c && †state.a"])
def test_what_has_no_value_is_named(text: str) -> None:
    """`||` needs one of its operands, `&&` all of them."""
    with pytest.raises(Unresolved) as unresolved:
        resolve({"x": [text]}, holding(a=1))

    assert read(text) == unresolved.value.expression
    assert f"{text} has no value" == str(unresolved.value)


def test_an_output_path_is_an_expression() -> None:
    """And nothing else."""
    assert AllOf((A, B)) == targets("†state.a && †input.b.0")
    for text in ("", "state.a", "†state.a &&"):
        with pytest.raises(BadExpression):
            targets(text)


def test_a_call_is_read() -> None:
    """Keys with an underscore are its own, all others its parameters; those that nobody knows are let be."""
    raw = {
        "_tool": "weather",
        "city": "†state.a",
        "_outputPath": "†state.weather",
        "_outputMethod": "push",
        "_instance": "①",
        "_activity": "",
        "_output": None,
        "_reasoningForCall": "because",
    }

    call = Call.read(raw)

    assert Call(raw, "weather", {"city": "†state.a"}, "†state.weather", "push", "", "①", True, None) == call
    assert Call({"_tool": "t"}, "t", {}) == Call.read({"_tool": "t"})


def test_null_is_no_meta_but_an_output() -> None:
    """A model that has to write every key writes null for what it does not mean."""
    raw = {"_tool": "t", "_outputPath": None, "_outputMethod": None, "_instance": None, "_activity": None}

    assert Call(raw, "t", {}) == Call.read(raw)
    assert Call.read({"_tool": "t", "_output": None}).has_output


@pytest.mark.parametrize(
    ("raw", "place"),
    [
        ("weather", "a call is a JSON object"),
        ([], "a call is a JSON object"),
        (None, "a call is a JSON object"),
        ({}, "_tool"),
        ({"_tool": ""}, "_tool"),
        ({"_tool": 1}, "_tool"),
        ({"_tool": "t", "_outputPath": 1}, "_outputPath"),
        ({"_tool": "t", "_outputPath": ""}, "_outputPath"),
        ({"_tool": "t", "_outputPath": "state.a"}, "_outputPath"),
        ({"_tool": "t", "_outputPath": "†state.a || †state.b && †state.c"}, "_outputPath"),
        ({"_tool": "t", "_outputMethod": "Set"}, "_outputMethod"),
        ({"_tool": "t", "_outputMethod": ["set"]}, "_outputMethod"),
        ({"_tool": "t", "_instance": 1}, "_instance"),
        ({"_tool": "t", "_activity": False}, "_activity"),
    ],
)
def test_what_is_no_call_is_refused(raw: object, place: str) -> None:
    """With the key that is wrong."""
    with pytest.raises(BadCall, match=f"^{place}"):
        Call.read(raw)


def test_a_call_is_changed_in_its_parameters_only() -> None:
    """The new values stand in the raw call too; its own keys stay, and the call that was is as it was."""
    call = Call.read({"_tool": "t", "a": 1, "b": 2, "_outputPath": "†state.x"})

    changed = call.changed({"b": 3, "c": 4, "_tool": "other"})

    assert Call.read({"_tool": "t", "a": 1, "b": 3, "c": 4, "_outputPath": "†state.x"}) == changed
    assert {"_tool": "t", "a": 1, "b": 2, "_outputPath": "†state.x"} == call.raw
