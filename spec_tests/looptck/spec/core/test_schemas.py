"""Schemas of tools: what is offered accepts and refuses the same arguments as what was declared."""

from __future__ import annotations

import pytest

from looptck.bench import schema_blocks as blocks
from looptck.bench.checks import Implementation, refusable, requirement
from looptck.bench.run import Run
from looptck.bench.schema_blocks import Block
from looptck.catalogue.agents import Tool
from looptck.spec import strategies
from looptck.spec.functions_alone import takes_functions_alone
from looptck.values.history import Offered
from looptck.values.plain import plain
from looptck.values.turns import says
from looptck.values.verdicts import NotApplicable

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
    "nullable-union-of-types": {
        "id": blocks.nullable(blocks.either(blocks.STRING, blocks.INTEGER)),
        "floor": blocks.nullable(blocks.either(blocks.INTEGER, blocks.BOOLEAN)),
    },
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


LINE = blocks.closed_object_of({"goods": blocks.STRING, "count": blocks.nullable(blocks.INTEGER, by_type=True)})
STRICT: dict[str, dict[str, Block]] = {
    "object": {
        "customer": blocks.closed_object_of({"name": blocks.STRING, "known": blocks.BOOLEAN}),
        "speed": blocks.WORDS,
    },
    "list-of-objects": {"lines": blocks.list_of(LINE), "speed": blocks.WORDS},
    "nullable": {"city": blocks.STRING, "floor": blocks.nullable(blocks.INTEGER, by_type=True)},
    "nullable-object": {
        "place": blocks.nullable(blocks.closed_object_of({"city": blocks.STRING})),
        "id": blocks.STRING,
    },
    "definitions": {"line": blocks.referred(LINE, "Line"), "again": blocks.referred(LINE, "Line")},
}
"""Parameters of strict tools, as the services of all wires accept them: all required, and closed at each depth.

None is an object alone, since loops may offer such a parameter's own members."""


def _first_required(members: dict[str, Block]) -> Block:
    """An object with these members, described; the first is required."""
    return blocks.object_of(blocks.all_described(members), [next(iter(members))])


def _strict(members: dict[str, Block]) -> Block:
    """A closed object with these members, described."""
    return blocks.closed_object_of(blocks.all_described(members))


def _offers(implementation: Implementation, block: Block, *, strict: bool = False) -> Offered:
    """Assert that a tool with these parameters is offered with a schema of the same meaning; return what is offered."""
    tool = Tool("plan", "Plans something.", blocks.parameters_of(block), strict=strict)
    implementation.scenario.plays(says("Hello."))

    run = implementation.run(tools=[tool])

    found = _offered(implementation, run, tool)
    other = blocks.otherwise(block, found.parameters, strict=found.strict)
    both = f"declared {plain(tool.parameters)}, not {plain(found.parameters)}"
    assert other is None, f"the offered schema means something else: {other}; {both}"
    return found


def _offered(implementation: Implementation, run: Run, tool: Tool) -> Offered:
    offered = {one.name: one for one in run.request(1).request.tools}
    takes_functions_alone(implementation, tool, offered)
    others = ", ".join(sorted(offered)) or "no tools"
    assert tool.name in offered, f"request 1 does not offer {tool.name}; it offers {others}"
    return offered[tool.name]


def _not_made_strict_in_vain(implementation: Implementation, found: Offered) -> None:
    """Assert that no tool is made strict, without being declared so, with a schema that is refused in strict mode."""
    wrong = [one for one in implementation.runs[-1].received[0].problems if one.pointer.startswith(found.pointer)]
    assert not (found.strict and wrong), (
        "the tool is not declared as strict, but offered as strict, and the service refuses it, "
        f"at {wrong[0].pointer}: {wrong[0].message}"
    )


@requirement("schemas-keep-their-meaning")
@pytest.mark.parametrize("members", KINDS.values(), ids=KINDS)
def test_schemas_keep_their_meaning(implementation: Implementation, members: dict[str, Block]) -> None:
    """References, definitions, unions, constants and names of keywords: values are accepted and refused as declared."""
    _offers(implementation, _first_required(members))


@requirement("schemas-keep-their-meaning")
@pytest.mark.parametrize("members", STRICT.values(), ids=STRICT)
def test_strict_schemas_keep_their_meaning(implementation: Implementation, members: dict[str, Block]) -> None:
    """A strict tool keeps objects, lists and null in its parameters; whether it stays strict is not asked."""
    _offers(implementation, blocks.indifferent(_strict(members)), strict=True)


@requirement("strict-tools-stay-strict")
@pytest.mark.parametrize("members", STRICT.values(), ids=STRICT)
def test_strict_tools_stay_strict(implementation: Implementation, members: dict[str, Block]) -> None:
    """A strict tool is offered as strict, and stays closed at each depth."""
    offered = _offers(implementation, _strict(members), strict=True)

    assert offered.strict, "a tool that was declared as strict is offered as one that is not"


@requirement("strict-tools-stay-strict")
@refusable("A loop may pass a schema on as it was given, and a service takes no open one from a strict tool.")
@pytest.mark.parametrize("members", STRICT.values(), ids=STRICT)
def test_open_schema_of_a_strict_tool(implementation: Implementation, members: dict[str, Block]) -> None:
    """A schema that does not close its objects; a loop that closes it closes it at each depth."""
    block = _strict(members)
    declared = Tool("plan", "Plans something.", blocks.opened(blocks.parameters_of(block)), strict=True)
    implementation.scenario.plays(says("Hello."))

    run = implementation.run(tools=[declared])

    offered = _offered(implementation, run, declared).parameters
    if offered.get("additionalProperties") is not False:
        raise NotApplicable("the loop passes the schema on as it was given")
    other = blocks.otherwise(block, offered, strict=True)
    assert other is None, f"the strict schema is closed in part: {other}; offered is {plain(offered)}"


@requirement("odd-schemas-keep-their-meaning")
@refusable("A schema of any kind may be more than a service takes, in strict mode above all.")
@pytest.mark.parametrize("members", ODD.values(), ids=ODD)
def test_odd_schemas_keep_their_meaning(implementation: Implementation, members: dict[str, Block]) -> None:
    """A node within a node, members of any name, and values of any kind."""
    found = _offers(implementation, _first_required(members))

    _not_made_strict_in_vain(implementation, found)


@requirement("odd-schemas-keep-their-meaning")
@refusable("A schema of any kind may be more than a service takes, in strict mode above all.")
def test_any_schema_keeps_its_meaning(implementation: Implementation) -> None:
    """Any parameters of these parts, at any depth."""

    @implementation.every(strategies.parameters())
    def holds(parameters: Block) -> None:
        found = _offers(implementation, parameters)
        _not_made_strict_in_vain(implementation, found)
