"""Schemas of tools: what is offered accepts and refuses the same arguments as what was declared."""

from __future__ import annotations

import pytest

from looptck.bench import schema_blocks as blocks
from looptck.bench.checks import Implementation, refusable, requirement
from looptck.bench.schema_blocks import Block
from looptck.catalogue.agents import Tool
from looptck.spec import strategies
from looptck.values.turns import says

NODE = blocks.object_of({"city": blocks.STRING, "floor": blocks.INTEGER}, ["city"])


def _shape(kind: str, size: str) -> Block:
    """An object whose kind is constant, and which has a size."""
    name = Block({"const": kind}, (kind,), ("x",))
    return blocks.object_of({"kind": name, size: blocks.NUMBER}, ["kind", size])


DEEPEST = blocks.object_of({"city": blocks.BOOLEAN}, ["city"])
KINDS: dict[str, dict[str, Block]] = {
    "definitions": {"from": blocks.referred(NODE, "Place"), "to": blocks.referred(NODE, "Place")},
    "definitions-of-definitions": {"ways": blocks.referred(blocks.list_of(blocks.referred(NODE, "Place")), "Ways")},
    "nullable-by-union": {"city": blocks.nullable(blocks.STRING), "floor": blocks.nullable(blocks.INTEGER)},
    "nullable-by-types": {"city": blocks.nullable(blocks.STRING, by_type=True), "floor": blocks.INTEGER},
    "union-of-objects": {"shape": blocks.either(_shape("circle", "radius"), _shape("square", "side"))},
    "union-of-types": {"id": blocks.either(blocks.STRING, blocks.INTEGER)},
    "constants": {"mode": blocks.FIXED, "speed": blocks.WORDS, "size": blocks.NUMBERS},
    "lists-of-objects": {"lines": blocks.list_of(NODE), "tags": blocks.list_of(blocks.STRING)},
    "keyword-names": {
        "where": blocks.object_of(
            {"type": blocks.STRING, "properties": blocks.INTEGER, "required": blocks.BOOLEAN, "title": blocks.STRING},
            ["type", "title"],
        ),
        "description": blocks.STRING,
        "default": blocks.INTEGER,
    },
    "same-name-at-each-depth": {
        "city": blocks.STRING,
        "inner": blocks.object_of({"city": blocks.INTEGER, "inner": DEEPEST}, []),
    },
}
"""Parameters as the generators of common libraries write them; the first of each is required."""
ODD: dict[str, dict[str, Block]] = {
    "recursive": {"chain": blocks.chain("Node")},
    "maps": {"prices": blocks.map_of(blocks.NUMBER)},
    "anything": {"value": blocks.ANYTHING, "city": blocks.STRING},
}
"""Parameters that JSON Schema allows and that some ways to declare a tool have no words for."""


def _first_required(members: dict[str, Block]) -> Block:
    """An object with these members, described; the first is required."""
    return blocks.object_of(blocks.all_described(members), [next(iter(members))])


def _offers(implementation: Implementation, block: Block) -> None:
    """Assert that a tool with these parameters is offered with a schema of the same meaning."""
    tool = Tool("plan", "Plans something.", blocks.parameters_of(block))
    implementation.scenario.plays(says("Hello."))

    run = implementation.run(tools=[tool])

    offered = {one.name: one for one in run.request(1).request.tools}
    assert tool.name in offered, f"the request offers {sorted(offered)}"
    schema = offered[tool.name].parameters
    found = blocks.otherwise(block, schema, strict=offered[tool.name].strict)
    assert found is None, f"the offered schema means something else: {found}; declared {tool.parameters}, not {schema}"


@requirement("schemas-keep-their-meaning")
@pytest.mark.parametrize("members", KINDS.values(), ids=KINDS)
def test_schemas_keep_their_meaning(implementation: Implementation, members: dict[str, Block]) -> None:
    """References, definitions, unions, constants and names of keywords: values are accepted and refused as declared."""
    _offers(implementation, _first_required(members))


@requirement("odd-schemas-keep-their-meaning")
@refusable("A schema of any kind may be more than a service takes, in strict mode above all.")
@pytest.mark.parametrize("members", ODD.values(), ids=ODD)
def test_odd_schemas_keep_their_meaning(implementation: Implementation, members: dict[str, Block]) -> None:
    """A node within a node, members of any name, and values of any kind."""
    _offers(implementation, _first_required(members))


@requirement("odd-schemas-keep-their-meaning")
@refusable("A schema of any kind may be more than a service takes, in strict mode above all.")
def test_any_schema_keeps_its_meaning(implementation: Implementation) -> None:
    """Any parameters of these parts, at any depth."""

    @implementation.every(strategies.parameters())
    def holds(parameters: Block) -> None:
        _offers(implementation, parameters)
