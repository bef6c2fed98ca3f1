"""Schemas that the Messages service compiles are held to what it can compile, at every depth."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptck.values.problem import Problem
from looptck.wires.anthropic_messages.judge import judge, strict
from meta.judge.messages.bodies import request, tool

TEXT: dict[str, Any] = {"type": "string"}


def closed(*, required: bool = True, **properties: object) -> dict[str, Any]:
    """A closed object with these properties."""
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": list(properties)} if required else schema


def compiled(schema: object) -> dict[str, list[Problem]]:
    """What is found in a request with this schema, by the place where it stands."""
    wanted = {"type": "json_schema", "schema": schema}
    return {
        "tools.0.custom": judge(request(tools=[tool(input_schema=schema, strict=True)])),
        "output_config.format.schema": judge(request(output_config={"format": wanted})),
        "output_format.schema": judge(request(output_format=wanted)),
    }


WITHIN: dict[str, Any] = {
    "property": lambda part: closed(x=part),
    "nested": lambda part: closed(x=closed(y=part)),
    "items": lambda part: closed(x={"type": "array", "items": part}),
    "any-of": lambda part: closed(x={"anyOf": [TEXT, part]}),
    "all-of": lambda part: closed(x={"allOf": [part]}),
    "definition": lambda part: {**closed(x={"$ref": "#/$defs/d"}), "$defs": {"d": part}},
    "draft-7": lambda part: {**closed(x={"$ref": "#/definitions/d"}), "definitions": {"d": part}},
}
FAULTS: dict[str, tuple[Any, str]] = {
    "silent": ({"type": "object"}, "For 'object' type, 'additionalProperties' must be explicitly set to false"),
    "open": ({**closed(), "additionalProperties": True}, "must be explicitly set to false"),
    "nullable": ({"type": ["null", "object"]}, "must be explicitly set to false"),
    "typeless": ({"properties": {}}, "must be explicitly set to false"),
    "true": (closed(a=True), "For 'object' type, property 'properties' is not supported"),
    "least": ({"type": "integer", "minimum": 0}, "For 'integer' type, property 'minimum' is not supported"),
    "step": (
        {"type": ["null", "number"], "multipleOf": 2},
        "For 'number' type, property 'multipleOf' is not supported",
    ),
    "length": ({**TEXT, "minLength": 1}, "For 'string' type, property 'minLength' is not supported"),
    "many": ({"type": "array", "items": TEXT, "maxItems": 2}, "For 'array' type, property 'maxItems' is not supported"),
    "few": ({"type": "array", "items": TEXT, "minItems": 2}, "'minItems' values other than 0 or 1 are not supported"),
}
FINE: dict[str, Any] = {
    "optional": closed(required=False, a=TEXT),
    "some": {"type": "array", "items": TEXT, "minItems": 1},
    "format": {**TEXT, "format": "uri", "pattern": "^a", "default": "a"},
    "const": {"const": 1},
    "union": {"type": ["string", "null"]},
    "all-of": {"allOf": [TEXT, {"enum": ["a"]}]},
    "keywords-as-names": closed(minimum=TEXT, minLength=TEXT),
}


@pytest.mark.parametrize("place", WITHIN)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_at_every_depth(fault: str, place: str) -> None:
    """What cannot be compiled is refused wherever it stands, of tools and outputs alike."""
    part, words = FAULTS[fault]

    for where, problems in compiled(WITHIN[place](part)).items():
        assert ["strict-schemas-are-closed"] == [problem.rule for problem in problems]
        assert problems[0].message.startswith(f"{where}: ")
        assert problems[0].message.endswith(words)
        assert f"/{where}".replace(".", "/").replace("custom", "input_schema") == problems[0].pointer


@pytest.mark.parametrize("place", WITHIN)
@pytest.mark.parametrize("part", FINE)
def test_what_can_be_compiled_is_accepted(part: str, place: str) -> None:
    """Recorded requests have these in their strict schemas, or documents allow them."""
    assert [[], [], []] == list(compiled(WITHIN[place](FINE[part])).values())


@pytest.mark.parametrize("fault", FAULTS)
def test_other_tools_are_free(fault: str) -> None:
    """Where a tool is not strict its schema is not compiled."""
    part, _ = FAULTS[fault]

    assert [] == judge(request(tools=[tool(input_schema=closed(x=part))]))


@pytest.mark.parametrize(
    ("definitions", "names"),
    [
        ({"A": {"anyOf": [{"$ref": "#/$defs/A"}, TEXT]}}, "A -> A"),
        ({"A": {"$ref": "#/$defs/B"}, "B": {"type": "array", "items": {"$ref": "#/$defs/A"}}}, "A -> B -> A"),
        ({"A": TEXT, "B": {"$ref": "#/$defs/A"}, "C": {"$ref": "#/$defs/C"}}, "C -> C"),
    ],
)
def test_definitions_go_in_no_circle(definitions: dict[str, Any], names: str) -> None:
    """Definitions that lead back to themselves are refused, with the way."""
    for problems in compiled({**closed(x={"$ref": "#/$defs/A"}), "$defs": definitions}).values():
        assert ["strict-schemas-are-closed"] == [problem.rule for problem in problems]
        assert f"schema definitions: {names}." in problems[0].message


def test_definitions_may_lead_on() -> None:
    """Definitions that use others, and references to nothing, go in no circle."""
    definitions = {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/C"}, "C": TEXT, "D": {"$ref": "#/$defs/?"}}

    assert [[], [], []] == list(compiled({**closed(x={"$ref": "#/$defs/A"}), "$defs": definitions}).values())


@pytest.mark.parametrize(
    ("part", "required", "limit", "words"),
    [
        (TEXT, False, 24, "too many optional parameters (25)"),
        ({"type": ["string", "null"]}, True, 16, "too many parameters with union types (17 "),
        ({"anyOf": [TEXT]}, True, 16, "too many parameters with union types (17 "),
    ],
)
def test_limits_hold_for_all_strict_tools_together(part: Any, required: bool, limit: int, words: str) -> None:
    """Of parameters that are optional or of several types there is a most, in one tool or in several."""
    names = [f"p{n}" for n in range(limit + 1)]
    halves = [names[:9], names[9:]]

    def judged(*groups: list[str]) -> list[Problem]:
        schemas = [closed(required=required, **dict.fromkeys(group, part)) for group in groups]
        return judge(request(tools=[tool(f"f{n}", input_schema=one, strict=True) for n, one in enumerate(schemas)]))

    for groups in ([names], halves):
        (problem,) = judged(*groups)
        assert ("strict-tools-are-few", "/tools") == (problem.rule, problem.pointer)
        assert words in problem.message
    assert [] == judged(names[1:])
    assert [] == judged(halves[0][1:], halves[1])


KEYWORDS = ["type", "properties", "items", "anyOf", "$defs", "$ref", "minItems", "minimum", "additionalProperties", "a"]
ANY_SCHEMA = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 2) | st.sampled_from(["object", "array", "integer", "#/$defs/a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=4),
    max_leaves=12,
)


@given(ANY_SCHEMA)
def test_any_schema_is_judged(part: object) -> None:
    """Whatever stands in a schema, the judge answers."""
    for problems in compiled({**closed(x=part), "$defs": part}).values():
        assert {"strict-schemas-are-closed", "tool-schemas-are-json-schemas"} >= {problem.rule for problem in problems}


def test_a_schema_may_be_deep() -> None:
    """Depth alone is no fault, and nothing to stumble over."""
    deep: dict[str, Any] = TEXT
    for _ in range(3000):
        deep = {"anyOf": [deep]}

    assert [] == strict.problems(request(tools=[tool(input_schema=closed(x=deep), strict=True)]))
