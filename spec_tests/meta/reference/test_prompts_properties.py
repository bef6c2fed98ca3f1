"""Inputs and parameters: how they are declared, what the model is offered of them, and what fills them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptck_reference.prompts import Input, PromptError
from meta.kit.steady import STEADY
from meta.reference.reference_prompts import HEAD, loaded


@pytest.mark.parametrize(
    ("entry", "schema"),
    [
        ("{kind: string}", {"type": "string"}),
        ("{kind: integer}", {"type": "integer"}),
        ("{kind: float}", {"type": "number"}),
        ("{kind: number, description: How many}", {"type": "number", "description": "How many"}),
        ('{kind: boolean, description: ""}', {"type": "boolean"}),
        ("{kind: string, enumValues: [c, f]}", {"type": "string", "enum": ["c", "f"]}),
        ("{kind: string, enum: [c, f], default: c}", {"type": "string", "enum": ["c", "f"], "default": "c"}),
        ("{kind: string, enumValues: []}", {"type": "string"}),
        ("{kind: string, default: }", {"type": "string"}),
        ("{kind: string, default: 2024-02-30}", {"type": "string", "default": "2024-02-30"}),
        ("{kind: integer, default: 0}", {"type": "integer", "default": 0}),
        ("{kind: boolean, default: false}", {"type": "boolean", "default": False}),
        ("{kind: array}", {"type": "array", "items": {}}),
        (
            "{kind: array, items: {kind: array, items: {kind: float}}, default: []}",
            {"type": "array", "items": {"type": "array", "items": {"type": "number"}}, "default": []},
        ),
        ("{kind: object}", {"type": "object", "properties": {}, "required": []}),
        (
            "{kind: object, properties: [{name: x, kind: integer, required: true}, {name: y, kind: integer}]}",
            {
                "type": "object",
                "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}},
                "required": ["x"],
            },
        ),
        (
            "{kind: object, properties: {deep: {kind: object, properties: {x: {kind: string, required: true}}}}}",
            {
                "type": "object",
                "properties": {"deep": {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}},
                "required": [],
            },
        ),
        ("celsius", {"type": "string", "default": "celsius"}),
        ("7", {"type": "integer", "default": 7}),
        ("0.5", {"type": "number", "default": 0.5}),
        ("true", {"type": "boolean", "default": True}),
        ("[1, 2]", {"type": "array", "items": {}, "default": [1, 2]}),
    ],
)
def test_a_parameter_is_offered_as_json_schema(tmp_path: Path, entry: str, schema: object) -> None:
    """Kind, description, allowed values, default and what lies inside; a value alone is a default."""
    front = f"{HEAD}\ntools: [{{name: t, kind: function, parameters: {{p: {entry}}}}}]"

    parameters = loaded(tmp_path, front=front).tools[0].parameters

    assert {"type": "object", "properties": {"p": schema}, "required": []} == parameters
    jsonschema.Draft202012Validator.check_schema(parameters)


def test_bound_parameters_stay_in_the_tool(tmp_path: Path) -> None:
    """What is offered without them is the loop's to make."""
    front = f"""{HEAD}
tools:
- name: t
  kind: function
  parameters: [{{name: a, kind: string, required: true}}, {{name: b, kind: string, required: true}}]
  bindings: {{b: {{input: unit}}}}"""

    tool = loaded(tmp_path, front=front).tools[0]

    assert ["a", "b"] == list(tool.parameters["properties"])
    assert ["a", "b"] == tool.parameters["required"]
    assert {"b": "unit"} == tool.bindings


@pytest.mark.parametrize(
    "spelling",
    [
        "{unit: {input: preferred}, who: {input: user}}",
        "{unit: preferred, who: user}",
        "[{name: unit, input: preferred}, {name: who, input: user}]",
    ],
)
def test_bindings_are_read_in_all_spellings(tmp_path: Path, spelling: str) -> None:
    """As mappings of either kind, and as a list."""
    front = f"{HEAD}\ntools: [{{name: t, kind: function, bindings: {spelling}}}]"

    assert {"unit": "preferred", "who": "user"} == loaded(tmp_path, front=front).tools[0].bindings


DECLARED = f"""{HEAD}
inputs:
- {{name: plain, kind: string}}
- {{name: needed, kind: string, required: true}}
- {{name: filled, kind: array, items: {{kind: integer}}, default: [1]}}
- {{name: both, kind: integer, required: true, default: 0}}
- {{name: example, kind: string, example: never}}"""


def test_a_value_alone_declares_an_input(tmp_path: Path) -> None:
    """Its kind is that of the value, which is its default."""
    schema = {"type": "string", "default": "Paris"}

    assert (Input("city", "string", "", "Paris", None, schema, 4),) == loaded(
        tmp_path, front=f"{HEAD}\ninputs: {{city: Paris}}"
    ).inputs


def test_defaults_fill_what_is_not_given(tmp_path: Path) -> None:
    """Only defaults do, not examples; and what has no value is left out."""
    prompt = loaded(tmp_path, front=DECLARED)

    assert {"needed": "x", "filled": [1], "both": 0} == prompt.filled({"needed": "x"})


@given(
    inputs=st.dictionaries(
        st.sampled_from(["plain", "filled", "both", "example", "other", "a b", ""]),
        st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.integers()),
    )
)
@STEADY
def test_what_is_given_is_kept(tmp_path_factory: pytest.TempPathFactory, inputs: dict[str, Any]) -> None:
    """Whatever its kind, null too, and whether it is declared or not."""
    prompt = loaded(tmp_path_factory.mktemp("given"), front=DECLARED)
    given = {**inputs, "needed": None}

    assert given == {name: prompt.filled(given)[name] for name in given}


def test_a_required_input_must_be_given(tmp_path: Path) -> None:
    """Where it has no default."""
    with pytest.raises(PromptError, match=r"sample\.prompty:6: the input 'needed' is required and was not given"):
        loaded(tmp_path, front=DECLARED).filled({"plain": "x"})


def test_defaults_are_nobodys_to_change(tmp_path: Path) -> None:
    """A tool that changes the list which it is given does not change that of the next run."""
    prompt = loaded(tmp_path, front=DECLARED)
    prompt.filled({"needed": "x"})["filled"].append(2)

    assert [1] == prompt.filled({"needed": "x"})["filled"]
