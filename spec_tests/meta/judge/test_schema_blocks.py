"""Schemas with values: what is said of a block holds of its schema, and another meaning is noticed in any words."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

from looptck.bench import schema_blocks as blocks
from looptck.bench.schema_blocks import Block, otherwise, parameters_of
from looptck.spec import strategies

PLACE = blocks.object_of({"city": blocks.STRING, "floor": blocks.INTEGER}, ["city"])
TRIP = blocks.object_of({"to": blocks.referred(PLACE, "Place"), "days": blocks.INTEGER}, ["to"])


@given(strategies.parameters())
def test_any_block_means_what_it_says(block: Block) -> None:
    """The schema of any parameters accepts the good values, refuses the bad ones, and means what it means."""
    schema = parameters_of(block)
    judge = Draft202012Validator(schema)

    assert [] == [value for value in block.good if not judge.is_valid(value)]
    assert [] == [value for value in block.bad if judge.is_valid(value)]
    assert otherwise(block, schema, strict=False) is None


@pytest.mark.parametrize("block", [blocks.chain("Node"), blocks.map_of(blocks.NUMBER), *blocks.LEAVES])
def test_parts_mean_what_they_say(block: Block) -> None:
    """The parts that are not drawn do so too."""
    assert otherwise(block, parameters_of(block), strict=False) is None


INLINE: dict[str, Any] = {
    "type": "object",
    "title": "Trip",
    "properties": {
        "days": {"type": ["integer"]},
        "to": {"properties": {"floor": {"anyOf": [{"type": "integer"}]}, "city": {"type": "string"}}, "type": "object"},
    },
    "required": ["to"],
}


def _with_required_city(schema: dict[str, Any]) -> dict[str, Any]:
    to = {**schema["properties"]["to"], "required": ["city"]}
    return {**schema, "properties": {**schema["properties"], "to": to}}


def test_other_words_say_the_same() -> None:
    """References may be resolved, and members written in another order, with titles and lists of one type."""
    assert otherwise(TRIP, _with_required_city(INLINE), strict=False) is None


def test_a_strict_schema_may_require_everything() -> None:
    """In strict mode optional members are required and may be null; nothing else may change."""
    floor = {"type": ["integer", "null"]}
    to = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "floor": floor},
        "required": ["city", "floor"],
        "additionalProperties": False,
    }
    days = {"anyOf": [{"type": "integer"}, {"type": "null"}]}
    strict = {"type": "object", "properties": {"to": to, "days": days}, "required": ["to", "days"]}

    assert otherwise(TRIP, strict, strict=True) is None
    assert otherwise(TRIP, strict, strict=False) is not None


@pytest.mark.parametrize(
    ("offered", "said"),
    [
        (INLINE, "accepts"),
        ({**_with_required_city(INLINE), "required": ["to", "days"]}, "refuses"),
        ({"type": "object", "properties": {"to": INLINE["properties"]["to"]}}, 'does not have the members ["days"]'),
        ({k: v for k, v in parameters_of(TRIP).items() if k != "$defs"}, "does not have the members"),
        ({**parameters_of(TRIP), "$defs": {"Other": parameters_of(TRIP)["$defs"]["Place"]}}, "does not exist"),
        ({**parameters_of(TRIP), "type": "thing"}, "cannot be read as a JSON Schema"),
    ],
)
def test_another_meaning_is_noticed(offered: dict[str, Any], said: str) -> None:
    """What is optional, required, missing, unresolved or no schema is told."""
    assert said in (otherwise(TRIP, offered, strict=False) or "")
