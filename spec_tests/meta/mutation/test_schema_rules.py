"""The keywords of a schema that refuse something are found where they are, and can be dropped."""

from __future__ import annotations

from copy import deepcopy

import jsonschema_rs

from tools.mutation.schema_rules import keywords

SCHEMA = {
    "type": "object",
    "required": ["kind", "size"],
    "additionalProperties": False,
    "properties": {"kind": {"$ref": "#/$defs/kind"}, "size": {"minimum": 0}, "type": {}},
    "if": {"properties": {"kind": {"const": "a"}}},
    "then": {"required": ["type"]},
    "$defs": {"kind": {"enum": ["a", "b"]}, "nobody's": {"type": "string"}},
}


def test_keywords_are_found_where_they_count() -> None:
    """Also by reference, but neither in a condition nor in a definition that nothing refers to."""
    assert [
        "/ type",
        "/ required kind",
        "/ required size",
        "/ additionalProperties",
        "/properties/size minimum",
        "/then required type",
        "/$defs/kind enum",
    ] == [keyword.text for keyword in keywords(SCHEMA)]


def test_a_dropped_keyword_refuses_nothing() -> None:
    """What it alone refused is accepted."""
    schema = deepcopy(SCHEMA)
    body = {"kind": "c", "size": -1}
    for keyword in keywords(SCHEMA):
        if keyword.text in {"/$defs/kind enum", "/properties/size minimum"}:
            keyword.drop(schema)

    assert not jsonschema_rs.is_valid(SCHEMA, body)
    assert jsonschema_rs.is_valid(schema, body)
