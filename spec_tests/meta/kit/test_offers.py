"""Offered schemas: what means the same is the same, and what is lost is told."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.bench.offers import described_otherwise, differences, own_members
from looptck.catalogue.agents import agent

ORDER = next(tool for tool in agent("clerk").tools if tool.name == "order").parameters
OPTIONAL: dict[str, Any] = {
    "type": "object",
    "properties": {"who": {"type": "string", "description": "Who."}, "n": {"type": "integer"}},
    "required": ["who"],
}
CUSTOMER = ORDER["properties"]["customer"]
STRICT: dict[str, Any] = {"additionalProperties": False, "required": ["n", "who"]}


def but(name: str, **changes: Any) -> dict[str, Any]:
    """The optional schema with another member."""
    members = OPTIONAL["properties"]
    return {**OPTIONAL, "properties": {**members, name: {**members[name], **changes}}}


@pytest.mark.parametrize(
    ("declared", "offered"),
    [
        (ORDER, ORDER),
        (ORDER, {**ORDER, "title": "Order", "additionalProperties": False, "$schema": "x"}),
        (
            ORDER,
            {
                **ORDER,
                "properties": {**ORDER["properties"], "customer": {"$ref": "#/$defs/C", "description": "Who orders."}},
                "$defs": {"C": CUSTOMER},
            },
        ),
        (ORDER, {**ORDER, "properties": {**ORDER["properties"], "customer": {"allOf": [CUSTOMER]}}}),
        (OPTIONAL, {**OPTIONAL, **STRICT}),
        (OPTIONAL, but("n", type=["integer", "null"], default=None) | {"required": ["who", "n"]}),
        (OPTIONAL, but("n", anyOf=[{"type": "integer"}, {"type": "null"}], type=None)),
        ({"type": "object"}, {"type": "object", "properties": {}, "required": []}),
        ({"enum": ["a", "b"], "type": "string"}, {"anyOf": [{"const": "b"}, {"const": "a"}]}),
        ({"type": "object", "properties": {}, "additionalProperties": True}, {"type": "object", "properties": {}}),
    ],
)
def test_what_means_the_same(declared: dict[str, Any], offered: dict[str, Any]) -> None:
    """Titles, closed objects, definitions, strict mode and other spellings of a choice lose nothing."""
    offered = {**offered}
    if offered.get("properties", {}).get("n", {}).get("type", "") is None:
        del offered["properties"]["n"]["type"]

    assert [] == differences(declared, offered)


def test_no_schema_is_an_empty_one() -> None:
    """A function that is offered without a schema takes nothing, which loses what another one takes."""
    assert [] == differences({"type": "object", "properties": {}}, None)
    assert ['the parameters: declared with the members ["n", "who"], offered with []'] == differences(OPTIONAL, None)
    assert [] != differences({"type": "object", "properties": {}, "additionalProperties": True}, None)


@pytest.mark.parametrize(
    ("offered", "told"),
    [
        ({}, "the parameters: declared as object, offered as {}"),
        (but("n", type="number"), '/n: declared as integer, offered as {"type": "number"}'),
        ({**OPTIONAL, "required": []}, "/who: required, but offered as optional"),
        ({**OPTIONAL, "required": ["who", "n"]}, "/n: optional, but offered as required"),
        ({**OPTIONAL, "properties": {}}, 'the parameters: declared with the members ["n", "who"], offered with []'),
    ],
)
def test_what_is_lost(offered: Any, told: str) -> None:
    """A type, a member or a requirement that is gone or is another is told with its place."""
    assert told in differences(OPTIONAL, offered)


@pytest.mark.parametrize(
    ("changed", "place"),
    [
        ({"customer": {"type": "object"}}, "/customer"),
        ({"lines": {"type": "array"}}, "/lines/items"),
        ({"speed": {"type": "string"}}, "/speed"),
    ],
)
def test_depth_is_not_lost(changed: dict[str, Any], place: str) -> None:
    """What lies deeper counts as much: members of objects, items of lists, the words of a choice."""
    found = differences(ORDER, {**ORDER, "properties": {**ORDER["properties"], **changed}})

    assert [place] == [one.partition(":")[0] for one in found]


def test_open_objects_stay_open() -> None:
    """An object that takes any member is not one that takes none."""
    open_schema = {"type": "object", "properties": {}, "additionalProperties": True}

    assert differences(open_schema, {**open_schema, "additionalProperties": False})


def test_descriptions_are_compared_at_every_depth() -> None:
    """One that is missing is told; one with something beside it is there."""
    longer = but("who", description="Who. A string.")

    assert [] == described_otherwise(OPTIONAL, longer)
    assert ["/who: described as '', not as 'Who.'"] == described_otherwise(OPTIONAL, but("who", description=None))
    assert ["/customer/name", "/customer/known"] == [
        told.partition(":")[0]
        for told in described_otherwise(
            ORDER, {**ORDER, "properties": {**ORDER["properties"], "customer": {"description": "Who orders."}}}
        )
    ]


WHY: dict[str, Any] = {"type": "string", "description": "Why."}


@pytest.mark.parametrize(
    ("added", "own"),
    [
        ([{"_why": WHY}, {"_why": WHY}], {"_why"}),
        ([{"_why": WHY}, {}], set()),
        ([{"_why": WHY}, {"_why": {"type": "object", "description": "Why."}}], set()),
        ([{"self": {"type": "string"}}, {"self": {"type": "string"}}], set()),
        ([{"n": WHY}, {"n": WHY}], set()),
    ],
)
def test_a_loop_adds_to_all_tools_alike(added: list[dict[str, Any]], own: set[str]) -> None:
    """A parameter is the loop's own if each tool is offered with it, with words about it, and none has declared it."""
    offered = [{**OPTIONAL, "properties": {"who": {}, **one}} for one in added]

    assert own == own_members([OPTIONAL, OPTIONAL], offered)


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ("Asks.\n\nArgs:\n    who: Who.", []),
        ("Asks.\n\nArgs:\n    whom: Who.", ["/who: described as '', not as 'Who.'"]),
        ("Asks.\n\nArgs:\n    who: Somebody.", ["/who: described as '', not as 'Who.'"]),
    ],
    ids=["told", "of-another", "in-other-words"],
)
def test_the_tool_may_tell_of_a_parameter(told: str, found: list[str]) -> None:
    """A docstring that describes a parameter in a line of its own may be the description of the tool."""
    assert found == described_otherwise(OPTIONAL, but("who", description=None), told)
