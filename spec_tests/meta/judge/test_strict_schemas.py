"""Schemas on the OpenAI wires: strict ones are held to their subset at every depth, all to what is asked of any."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptck.values.problem import Problem
from looptck.wires import openai_schemas
from looptck.wires.openai_chat.judge import judge as judge_chat
from looptck.wires.openai_responses.judge import judge as judge_responses
from meta.judge.chat.bodies import request as chat
from meta.judge.chat.bodies import tool as chat_tool
from meta.judge.responses.bodies import request as responses
from meta.judge.responses.bodies import tool as responses_tool
from meta.kit.each import each

TEXT: dict[str, Any] = {"type": "string"}


def closed(**properties: object) -> dict[str, Any]:
    """A closed object with these properties, all of them required."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def asked(schema: object, *, strict: bool) -> list[list[Problem]]:
    """What each of the two judges finds in a tool with these parameters."""
    return [
        judge_chat(chat(tools=[chat_tool(parameters=schema, strict=strict)])),
        judge_responses(responses(tools=[responses_tool(parameters=schema, strict=strict)])),
    ]


def answered(schema: object) -> list[list[Problem]]:
    """The same for a strict output with this schema."""
    wanted = {"name": "o", "schema": schema, "strict": True}
    return [
        judge_chat(chat(response_format={"type": "json_schema", "json_schema": wanted})),
        judge_responses(responses(text={"format": {"type": "json_schema", **wanted}})),
    ]


WITHIN: dict[str, tuple[Any, str]] = {
    "property": (lambda part: closed(x=part), "('properties', 'x')"),
    "nested": (lambda part: closed(x=closed(y=part)), "('properties', 'x', 'properties', 'y')"),
    "items": (lambda part: closed(x={"type": "array", "items": part}), "('properties', 'x', 'items')"),
    "any-of": (lambda part: closed(x={"anyOf": [TEXT, part]}), "('properties', 'x', 'anyOf', '1')"),
    "definition": (lambda part: {**closed(x={"$ref": "#/$defs/d"}), "$defs": {"d": part}}, "('$defs', 'd')"),
    "draft-7": (
        lambda part: {**closed(x={"$ref": "#/definitions/d"}), "definitions": {"d": part}},
        "('definitions', 'd')",
    ),
}
"""Where a schema may stand in another, and how that place is named."""
MALFORMED: dict[str, tuple[Any, str]] = {
    "properties": ({"type": "object", "properties": []}, "[] is not of type 'object'."),
    "no-properties": ({"type": "object", "properties": None}, "None is not of type 'object'."),
    "required": ({"type": "object", "properties": {}, "required": None}, "None is not of type 'array'."),
    "required-names": ({"type": "object", "properties": {}, "required": [1]}, "1 is not of type 'string'."),
    "empty-list": ([], "[] is not of type 'object', 'boolean'."),
    "no-schema": (None, "None is not of type 'object', 'boolean'."),
    "word": ("string", "'string' is not of type 'object', 'boolean'."),
    "type": ({"type": "Boolean"}, "'Boolean' is not valid under any of the given schemas."),
    "types": ({"type": ["string", "any"]}, "['string', 'any'] is not valid under any of the given schemas."),
    "no-types": ({"type": []}, "[] is not valid under any of the given schemas."),
}
"""What is no schema, and what the services say of it."""
WELL_FORMED: dict[str, Any] = {
    "anything": {},
    "true": True,
    "false": False,
    "types": {"type": ["string", "null"]},
    "object": {"type": "object"},
    "null": {"type": "null"},
    "tuple": {"type": "array", "items": [TEXT, True]},
    "required-elsewhere": {"type": "object", "required": ["y"]},
}


@pytest.mark.parametrize("place", WITHIN)
def test_a_part_that_is_no_schema_is_refused(place: str) -> None:
    """At every depth, strict or not."""
    within, _ = WITHIN[place]

    def check(part: object, said: str) -> None:
        for strict in (False, True):
            found = [[(one.rule, one.message) for one in problems] for problems in asked(within(part), strict=strict)]
            whole = f"Invalid schema for function 'f': {said}"
            assert [[("parameters-describe-an-object", whole)]] * 2 == found

    each(MALFORMED, check)


def test_a_whole_schema_that_is_malformed_is_refused() -> None:
    """The top has these members too."""
    for name in ("properties", "no-properties", "required", "required-names"):
        schema, said = MALFORMED[name]
        found = [one for problems in asked(schema, strict=False) for one in problems]
        assert [f"Invalid schema for function 'f': {said}"] * 2 == [one.message for one in found]


@pytest.mark.parametrize("place", WITHIN)
def test_a_part_that_is_a_schema_is_accepted(place: str) -> None:
    """A schema need not say much."""
    within, _ = WITHIN[place]

    each({name: (part,) for name, part in WELL_FORMED.items()}, lambda part: _is_accepted(within(part)))


def _is_accepted(schema: object) -> None:
    assert [[], []] == asked(schema, strict=False)


REFUSED = (
    "allOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "propertyNames",
    "uniqueItems",
)
FAULTS: dict[str, tuple[Any, str]] = {
    "open": ({**closed(a=TEXT), "additionalProperties": True}, "'additionalProperties' is required to be supplied"),
    "silent": ({"type": "object", "properties": {}}, "is required to be supplied and to be false."),
    "map": ({"type": "object", "additionalProperties": TEXT}, "'additionalProperties' is required"),
    "nullable": ({"type": ["object", "null"], "properties": {}}, "'additionalProperties' is required"),
    "nullable-optional": ({**closed(a=TEXT), "type": ["null", "object"], "required": []}, "Missing 'a'."),
    "typeless-object": ({"anyOf": [TEXT], "properties": {}}, "'additionalProperties' is required"),
    "optional": ({**closed(a=TEXT, b=TEXT), "required": ["a"]}, "including every key in properties. Missing 'b'."),
    "unsaid": ({"type": "object", "properties": {"a": TEXT}, "additionalProperties": False}, "Missing 'a'."),
    "anything": ({}, "schema must have a 'type' key."),
    "true": (True, "schema must have a 'type' key."),
    "described": ({"description": "d"}, "schema must have a 'type' key."),
    "nullable-array": ({"type": ["array", "null"]}, "array schema missing items."),
    "format": ({**TEXT, "format": "uri"}, "'uri' is not a valid format."),
    "nullable-format": ({"type": ["null", "string"], "format": "uri"}, "'uri' is not a valid format."),
    "reference": (
        {"$ref": "#/$defs/e", "description": "d", "default": 1},
        "$ref cannot have keywords {'description', 'default'}.",
    ),
    **{keyword: ({**TEXT, keyword: []}, f"'{keyword}' is not permitted.") for keyword in REFUSED},
}
"""What no part of a strict schema may be, and the words for it."""
FINE: dict[str, Any] = {
    "nullable": {"type": ["string", "null"], "default": None},
    "enum": {"enum": ["a", "b"], "title": "T"},
    "const": {"const": "a"},
    "bounds": {"type": "integer", "minimum": 0, "maximum": 9, "multipleOf": 3},
    "format-of-a-number": {"type": "integer", "format": "int64"},
    "text": {**TEXT, "pattern": "^a", "minLength": 1, "format": "email"},
    "array": {"type": "array", "items": TEXT, "minItems": 1, "maxItems": 3},
    "reference": {"$ref": "#"},
    "empty": closed(),
    "keywords-as-names": closed(oneOf=TEXT, format=TEXT, additionalProperties=TEXT, uniqueItems=TEXT),
}
"""What the service was seen to take in a strict schema, or documents that it does."""


@pytest.mark.parametrize("place", WITHIN)
def test_a_fault_is_found_at_every_depth(place: str) -> None:
    """Whatever a strict schema may not have is refused wherever it stands, with the way to it; of an output too."""
    around, context = WITHIN[place]

    def found(part: object, words: str) -> None:
        for problems in asked(around(part), strict=True) + answered(around(part)):
            assert ["strict-schemas-are-closed"] == [problem.rule for problem in problems]
            assert f"In context={context}, " in problems[0].message
            assert words in problems[0].message

    each(FAULTS, found)


@pytest.mark.parametrize("place", WITHIN)
def test_the_subset_is_accepted(place: str) -> None:
    """What may be in a strict schema is accepted at every depth."""
    around, _ = WITHIN[place]

    def accepted(part: object) -> None:
        assert [[], [], [], []] == asked(around(part), strict=True) + answered(around(part))

    each({name: (part,) for name, part in FINE.items()}, accepted)


def test_other_schemas_are_free() -> None:
    """Where a tool is not strict, none of that is refused."""

    def free(part: object, _: str) -> None:
        assert [[], []] == asked(closed(x=part), strict=False)

    each(FAULTS, free)


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("keyword", ["oneOf", "anyOf", "allOf", "enum", "not"])
def test_parameters_are_no_union(keyword: str, strict: bool) -> None:
    """The parameters of a function are one object, strict or not."""
    for problems in asked({**closed(x=TEXT), keyword: []}, strict=strict):
        assert ["parameters-describe-an-object"] == [problem.rule for problem in problems]
        assert "at the top level." in problems[0].message


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("place", WITHIN)
def test_arrays_have_items(place: str, strict: bool) -> None:
    """An array without items is refused at every depth of a function's parameters, strict or not."""
    around, context = WITHIN[place]

    for problems in asked(around({"type": "array"}), strict=strict):
        assert ["parameters-describe-an-object"] == [problem.rule for problem in problems]
        assert f"In context={context}, array schema missing items." in problems[0].message


@pytest.mark.parametrize("schema", [{"anyOf": [closed(x=TEXT)]}, TEXT, {"$defs": {}}])
def test_a_strict_output_is_an_object(schema: dict[str, Any]) -> None:
    """The top of a strict output's schema says that it is an object."""
    for problems in answered(schema):
        assert ["strict-schemas-are-closed"] == [problem.rule for problem in problems]
        assert "schema must be a JSON Schema of 'type: \"object\"'" in problems[0].message


def test_only_the_top_may_be_silent() -> None:
    """Responses takes a strict schema whose top says nothing of additional properties, and Chat does not."""
    silent = closed(x=TEXT)
    del silent["additionalProperties"]

    for in_chat, in_responses in (asked(silent, strict=True), answered(silent)):
        assert ["strict-schemas-are-closed"] == [problem.rule for problem in in_chat]
        assert [] == in_responses


KEYWORDS = ["type", "properties", "required", "items", "anyOf", "$defs", "$ref", "format", "additionalProperties", "a"]
ANY_SCHEMA = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 2) | st.sampled_from(["object", "array", "email", "#/$defs/a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=4),
    max_leaves=12,
)


@given(ANY_SCHEMA, st.booleans())
def test_any_schema_is_judged(part: object, strict: bool) -> None:
    """Whatever stands in a schema, the judges answer."""
    for problems in asked(closed(x=part), strict=strict) + answered(closed(x=part)):
        assert {"parameters-describe-an-object", "strict-schemas-are-closed"} >= {problem.rule for problem in problems}


def test_a_schema_may_be_deep() -> None:
    """Depth alone is no fault, and nothing to stumble over."""
    deep: dict[str, Any] = TEXT
    for _ in range(3000):
        deep = {"anyOf": [deep]}

    assert ("", "") == (openai_schemas.strict(closed(x=deep)), openai_schemas.of_function(closed(x=deep)))
