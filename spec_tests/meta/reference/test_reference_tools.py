"""Arguments in, values out."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptck_reference.vocabulary.errors import BadArguments
from looptck_reference.vocabulary.tools import Tool, bind, json_text, parse_arguments
from meta.kit.steady import STEADY

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@pytest.mark.parametrize("text", ["", " ", "\n\t "])
def test_blank_arguments_are_none(text: str) -> None:
    """Blank text means that the tool is called without arguments."""
    assert {} == parse_arguments(text)


@STEADY
@given(st.dictionaries(st.text(), JSON))
def test_any_json_object_is_accepted(arguments: dict[str, object]) -> None:
    """Whatever object the model writes arrives as it was meant."""
    assert arguments == parse_arguments(json.dumps(arguments))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("null", "null"),
        ("true", "a boolean"),
        ("3", "a number"),
        ('"a"', "a string"),
        ("[]", "an array"),
        ("[{}]", "an array"),
    ],
)
def test_json_that_is_no_object_is_refused(text: str, kind: str) -> None:
    """Only an object can be keyword arguments."""
    with pytest.raises(BadArguments, match=f"^expected a JSON object, got {kind}$"):
        parse_arguments(text)


@pytest.mark.parametrize("text", ["{", '{"a":', '{"a":NaN}', '{"a":-Infinity}', "{'a': 1}", "{}{}", "[" * 100_000])
def test_text_that_is_no_json_is_refused(text: str) -> None:
    """Half an object, Python's dialect of JSON and bottomless nesting are faults, never guesses."""
    with pytest.raises(BadArguments):
        parse_arguments(text)


@STEADY
@given(st.dictionaries(st.text(), JSON, min_size=1), st.data())
def test_truncated_arguments_are_never_accepted(arguments: dict[str, object], data: st.DataObject) -> None:
    """No beginning of an object, except nothing at all, is taken for arguments."""
    text = json.dumps(arguments)
    cut = text[: data.draw(st.integers(1, len(text) - 1), label="cut")]

    with pytest.raises(BadArguments):
        parse_arguments(cut)


def test_bindings_override_the_model() -> None:
    """A bound parameter is the input's, whatever the model said, and the model's arguments are not changed."""
    said = {"unit": "F", "city": "Paris"}
    tool = Tool("weather", bindings={"unit": "preferred_unit"})

    bound = bind(tool, said, {"preferred_unit": "C"})

    assert {"unit": "C", "city": "Paris"} == bound
    assert {"unit": "F", "city": "Paris"} == said


def test_a_binding_without_its_input_injects_nothing() -> None:
    """Only inputs that are there are injected."""
    tool = Tool("weather", bindings={"unit": "preferred_unit"})

    assert {"unit": "F"} == bind(tool, {"unit": "F"}, {})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("18 °C", "18 °C"),
        ("", ""),
        (None, "null"),
        (True, "true"),
        (18, "18"),
        ({"temp": "18 °C"}, '{"temp": "18 °C"}'),
        ([1, None], "[1, null]"),
        ({1}, '"{1}"'),
    ],
)
def test_values_become_text_that_a_model_reads(value: object, text: str) -> None:
    """Text stays as it is, anything else is JSON, and what JSON lacks is what str makes of it."""
    assert text == json_text(value)
