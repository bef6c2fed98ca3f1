"""Tools of MCP servers: which are offered to the model, under which names, and with which schemas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from looptck.bench import schema_blocks as blocks
from looptck.bench.checks import Implementation, refusable, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.schema_blocks import Block
from looptck.provider.mcp import Server, Tool
from looptck.provider.mcp.speaking import cursor_of
from looptck.spec.describing import is_no_word
from looptck.spec.serving import (
    CITY,
    CLOCK,
    FORECAST,
    HIGH,
    ODD,
    TIDES,
    TOMORROW,
    TOWN,
    asked,
    offered,
    served,
)
from looptck.values.plain import plain
from looptck.values.turns import Call, calls
from looptck.values.verdicts import NotReached

MANY = tuple(Tool(f"district_{n}", f"Tells about district {n} of the town.", CITY) for n in range(1, 6))
PAGED = Server(tools=MANY, page=2)
SILENT = Tool("harbour", schema=CITY)
WIDE = Tool("berth", "Finds a berth.", {"type": "object", "properties": {"number": {"type": ["integer", "null"]}}})


@requirement("mcp-tools-are-offered")
@pytest.mark.parametrize("streams", [False, True], ids=["json", "stream"])
def test_tools_are_offered(scenario: Scenario, implementation: Implementation, streams: bool) -> None:
    """Each tool that the server lists is offered in each request."""
    run = served(scenario, implementation, calls(TOMORROW), server=Server(tools=(*TOWN.tools, CLOCK), streams=streams))

    run.request(2)
    for n in (1, 2):
        for tool in (FORECAST, TIDES, CLOCK):
            offered(run, tool, n)


@requirement("mcp-tools-are-offered")
def test_one_without_a_description(scenario: Scenario, implementation: Implementation) -> None:
    """A tool may have no description."""
    run = served(scenario, implementation, server=Server(tools=(FORECAST, SILENT)))

    _among(run, SILENT)


@requirement("missing-description-is-no-word")
def test_a_listed_one_without_a_description(scenario: Scenario, implementation: Implementation) -> None:
    """A server lists a tool without a description."""
    implementation.needs("mcp_client")
    run = served(scenario, implementation, server=Server(tools=(FORECAST, SILENT)))

    found = [one for one in run.request(1).request.tools if SILENT.name in one.name]
    if not found:
        raise NotReached(f"the request does not offer {SILENT.name}, which the server lists")
    for one in found:
        is_no_word(one.description)


@requirement("mcp-tools-are-offered")
def test_one_with_several_types(scenario: Scenario, implementation: Implementation) -> None:
    """A parameter may have a list of types."""
    run = served(scenario, implementation, server=Server(tools=(FORECAST, WIDE)))

    _among(run, WIDE)


def _among(run: Run, tool: Tool) -> None:
    there = [one.name for one in run.request(1).request.tools]
    assert any(tool.name in name for name in there), f"the server lists {tool.name}; {_offers(there)}"


def _offers(names: Sequence[str]) -> str:
    return f"the request offers {', '.join(names) or 'no tools'}"


@requirement("mcp-all-pages-are-offered")
def test_pages(scenario: Scenario, implementation: Implementation) -> None:
    """The server lists its tools on three pages."""
    run = served(scenario, implementation, server=PAGED)

    for tool in MANY:
        offered(run, tool)


@requirement("mcp-cursors-are-opaque")
def test_cursors(scenario: Scenario, implementation: Implementation) -> None:
    """The cursor of the next page comes back as the server has written it."""
    run = served(scenario, implementation, server=PAGED)

    given = [one.message.get("params") or {} for one in asked(run) if one.method == "tools/list"]
    cursors = [one["cursor"] for one in given if one.get("cursor") is not None]
    if not cursors:
        raise NotReached("the client has asked for no second page")
    for cursor in cursors:
        assert cursor in {cursor_of(1), cursor_of(2)}, f"the server has written {cursor_of(1)!r}; back comes {cursor!r}"


ABOUT = {
    "lines": "Finds a way through the town.\n\nSay where from; «now» is the default.\n- on foot\n- by boat",
    "long": "\n".join(f"Stage {n} of a way may be on foot, by boat or by train." for n in range(1, 12)),
}


@requirement("mcp-descriptions-are-offered")
@pytest.mark.parametrize("told", ABOUT.values(), ids=ABOUT)
def test_descriptions(scenario: Scenario, implementation: Implementation, told: str) -> None:
    """Descriptions of several lines, and of six hundred characters, are offered with all of them."""
    run = served(scenario, implementation, server=Server(tools=(Tool("route", told, CITY),)))

    there = run.request(1).request.tools
    found = next((one for one in there if one.name.endswith("route")), None)
    assert found is not None, _offers([one.name for one in there])
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    missing = [line for line in lines if line not in found.description]
    assert not missing, f"the description is offered without {missing[0]!r}: {found.description!r}"


NODE = blocks.object_of({"city": blocks.STRING, "floor": blocks.INTEGER}, ["city"])
KINDS: dict[str, dict[str, Block]] = {
    "required-and-optional": {"city": blocks.STRING, "floor": blocks.INTEGER},
    "nested": {"place": NODE, "again": blocks.object_of({"place": NODE}, [])},
    "definitions": {"from": blocks.referred(NODE, "Place"), "to": blocks.referred(NODE, "Place")},
    "lists-of-objects": {"lines": blocks.list_of(NODE), "tags": blocks.list_of(blocks.STRING)},
    "constants": {"mode": blocks.FIXED, "speed": blocks.WORDS, "size": blocks.NUMBERS},
    "union": {"id": blocks.either(blocks.STRING, blocks.INTEGER)},
}


@requirement("mcp-schemas-keep-their-meaning")
@pytest.mark.parametrize("members", KINDS.values(), ids=KINDS)
def test_schemas(scenario: Scenario, implementation: Implementation, members: dict[str, Block]) -> None:
    """The offered schema accepts and refuses the same arguments as the listed one."""
    block = blocks.object_of(blocks.all_described(members), [next(iter(members))])
    plan = Tool("plan", "Plans a way through the town.", blocks.parameters_of(block))

    run = served(scenario, implementation, server=Server(tools=(plan,)))

    found = offered(run, plan)
    other = blocks.otherwise(block, found.parameters, strict=found.strict)
    assert other is None, f"the offered schema means something else: {other}; the server lists {plain(plan.schema)}"


@requirement("open-schemas-are-offered")
def test_any_members(scenario: Scenario, implementation: Implementation) -> None:
    """A server's tool takes texts of any name beside its own; what the model writes of them comes to the server."""
    implementation.needs("mcp_client")
    arguments = {"city": "Paris", "mood": "calm", "street-name": "Rue X"}
    schema = {**CITY, "additionalProperties": {"type": "string"}}
    labels = Tool("labels", "Puts labels on a city.", schema)

    run = served(scenario, implementation, calls(Call.of("labels", arguments)), server=Server(tools=(labels,)))

    found = offered(run, labels)
    closed = isinstance(found.parameters, dict) and found.parameters.get("additionalProperties") is False
    assert not closed, f"the server lists {plain(schema)}, and the request offers {plain(found.parameters)}"
    run.tool_began("labels")
    got = run.arguments_of("labels")
    assert [arguments] == got, f"the model wrote {plain(arguments)}; the server got {plain(got)}"


NOTHING: dict[str, Mapping[str, Any]] = {
    "closed": {"type": "object", "additionalProperties": False},
    "open": {"type": "object"},
    "no-properties": {"type": "object", "properties": {}},
    "with-a-dialect": {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "properties": {}},
}


@requirement("mcp-tools-without-parameters-are-offered")
@refusable("the requirement judges what the service refuses")
@pytest.mark.parametrize("schema", NOTHING.values(), ids=NOTHING)
def test_no_parameters(scenario: Scenario, implementation: Implementation, schema: Mapping[str, Any]) -> None:
    """A tool without parameters, in each form that the specification allows, is offered and called."""
    tides = Tool("tides", TIDES.description, schema)

    run = served(scenario, implementation, calls(HIGH), server=Server(tools=(tides,)))

    offered(run, tides)
    wrong = [one.message for one in run.request(1).problems if not one.pointer.endswith("/name")]
    assert not wrong, f"the server lists {plain(schema)}; the service refuses the request: {wrong[0]}"
    run.delivered(1)
    ran = [one.tool for one in run.ran]
    assert ["tides"] == ran, f"the tools that ran are {', '.join(ran) or 'none'}; the loop {run.outcome}"


@requirement("mcp-names-are-legal-on-the-wire")
@pytest.mark.parametrize("name", ODD.values(), ids=ODD)
@refusable("the service allows fewer names than MCP")
def test_legal_names(scenario: Scenario, implementation: Implementation, name: str) -> None:
    """A name that MCP allows is offered under one that the service allows, or is an error for the caller."""
    tool = Tool(name, f"Lists what is there, as {name[:40]}.", CITY)
    run = served(scenario, implementation, server=Server(tools=(FORECAST, tool)))

    if not run.requests and run.failed:
        return
    wrong = [one.message for one in run.request(1).problems]
    assert not wrong, f"the service refuses the request: {wrong[0]}"
