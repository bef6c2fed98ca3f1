"""Tools of MCP servers: which are offered and how, which is called, and with which arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from looptck.bench import schema_blocks as blocks
from looptck.bench.assertions.results import answers
from looptck.bench.bench import Scenario
from looptck.bench.checks import Implementation, refusable, requirement
from looptck.bench.run import Run
from looptck.bench.schema_blocks import Block
from looptck.mcp import Server, Tool
from looptck.mcp.speaking import cursor_of
from looptck.provider.gates import ABSENCE, tool_ended
from looptck.provider.mcp_results import Content
from looptck.provider.script import Step
from looptck.spec.serving import (
    CITY,
    CLOCK,
    FORECAST,
    HIGH,
    SEEN,
    TIDES,
    TOMORROW,
    TOWN,
    answer,
    asked,
    connected,
    is_of,
    offered,
    served,
)
from looptck.values.history import holds
from looptck.values.jsontext import canonical
from looptck.values.plain import Listed, plain
from looptck.values.transcript import Received, ToolBegan
from looptck.values.turns import Call, Turn, calls
from looptck.values.verdicts import NotApplicable, NotReached
from looptck.wires import WIRES

MANY = tuple(Tool(f"district_{n}", f"Tells about district {n} of the town.", CITY) for n in range(1, 6))
PAGED = Server(tools=MANY, page=2)
SILENT = Tool("harbour", schema=CITY)


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

    there = [one.name for one in run.request(1).request.tools]
    assert any(SILENT.name in name for name in there), f"the server lists {SILENT.name}; the request offers {there}"


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


@requirement("mcp-descriptions-are-offered")
def test_descriptions(scenario: Scenario, implementation: Implementation) -> None:
    """Descriptions of several lines are offered with all of them."""
    told = "Finds a way through the town.\n\nSay where from; «now» is the default.\n- on foot\n- by boat"
    run = served(scenario, implementation, server=Server(tools=(Tool("route", told, CITY),)))

    there = run.request(1).request.tools
    found = next((one for one in there if one.name.endswith("route")), None)
    assert found is not None, f"the request offers {[one.name for one in there]}"
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
    assert other is None, f"the offered schema means something else: {other}; listed {plan.schema}"


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
    assert not wrong, f"the server lists {dict(schema)}; the service refuses the request: {wrong[0]}"
    run.delivered(1)
    assert ["tides"] == [one.tool for one in run.ran], f"the tools that ran are {run.tools_ran}; the loop {run.outcome}"


ODD = {"dots": "admin.tools.list", "long": "list_" + "all_" * 24 + "of_them", "capitals": "DATA_EXPORT-v2"}


@requirement("mcp-call-names-the-tool")
@pytest.mark.parametrize("name", [FORECAST.name, *ODD.values()], ids=["plain", *ODD])
@refusable("the service allows fewer names than MCP")
def test_name_of_a_call(scenario: Scenario, implementation: Implementation, name: str) -> None:
    """A call under the offered name reaches the server under the tool's own."""
    tool = Tool(name, f"Lists what is there, as {name[:40]}.", CITY)
    run = served(scenario, implementation, calls(Call.of(name, {"city": "Paris"})), server=Server(tools=(tool,)))

    _not_refused(run)
    offered(run, tool)
    run.delivered(1)
    _called(run, [("town", name)])


def _not_refused(run: Run) -> None:
    """Raises NotApplicable if the loop or the service has refused a name, which another row judges."""
    if not run.requests and run.failed:
        raise NotApplicable(f"the loop refuses the name: it {run.outcome}")
    if run.request(1).problems:
        raise NotApplicable("the service refuses the name")


def _called(run: Run, wanted: list[tuple[str, str]]) -> None:
    """Assert that these tools were called, each with its server, in any order."""
    ran = [(one.server, one.tool) for one in run.transcript.events if isinstance(one, ToolBegan)]
    sent = [(one.message.get("params") or {}).get("name") for one in asked(run) if one.method == "tools/call"]
    assert sorted(wanted) == sorted(ran), (
        f"the calls of {_at(wanted)} reach {_at(ran)}, under the names {Listed(sent) if sent else 'of nothing'}"
    )


def _at(calls: list[tuple[str, str]]) -> str:
    return ", ".join(f"{tool} at {server}" if server else tool for server, tool in calls) or "no tool"


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


ARGUMENTS: dict[str, Any] = {
    "nested": {"place": {"city": "Paris", "floor": 3}, "list": [1, 2.5, True, None, "x"]},
    "beyond-ascii": {"place": {"city": "Αθήνα «ü» \U0001f30a"}, "list": []},
    "texts-that-look-otherwise": {"place": {"city": "3"}, "list": ["true", "null", "[1]", '{"a": 1}', ""]},
    "falsehoods": {"place": {"city": "", "floor": 0}, "list": [False, 0, ""]},
}
OPEN = Tool(
    "plan",
    "Plans a way through the town.",
    {
        "type": "object",
        "properties": {
            "place": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "floor": {"type": "integer"}},
                "required": ["city"],
            },
            "list": {"type": "array", "items": {}},
        },
        "required": ["place", "list"],
    },
)


@requirement("mcp-arguments-arrive-as-written")
@pytest.mark.parametrize("arguments", ARGUMENTS.values(), ids=ARGUMENTS)
def test_arguments(scenario: Scenario, implementation: Implementation, arguments: dict[str, Any]) -> None:
    """The arguments reach the server as the model wrote them."""
    run = served(scenario, implementation, calls(Call.of("plan", arguments)), server=Server(tools=(OPEN,)))

    run.delivered(1)
    run.tool_began("plan")
    got = run.arguments_of("plan")
    assert [canonical(arguments)] == [canonical(one) for one in got], (
        f"the model wrote {plain(arguments)}; the server got {plain(got)}"
    )


@requirement("mcp-arguments-arrive-as-written")
def test_no_arguments(scenario: Scenario, implementation: Implementation) -> None:
    """A call without arguments has an empty object, or no arguments at all: null is not one of the two."""
    run = served(scenario, implementation, calls(HIGH))

    run.delivered(1)
    run.tool_began("tides")
    got = run.arguments_of("tides")
    assert [{}] == got, f"the model wrote no arguments; the server got {plain(got)}"


@requirement("mcp-answers-stay-apart")
@pytest.mark.parametrize("streams", [False, True], ids=["json", "stream"])
def test_parallel_calls(scenario: Scenario, implementation: Implementation, streams: bool) -> None:
    """Of two calls in a turn the first is answered last, if they run at the same time: each has its own answer."""
    second = tool_ended("clock")
    second.patience, second.if_ever = 3 * ABSENCE, True
    server = Server(tools=(FORECAST, CLOCK), streams=streams)
    both = calls(TOMORROW, Call.of("clock", {"city": "Rome"}))

    run = served(
        scenario,
        implementation,
        both,
        server=server,
        forecast=Content.of("Rain in Paris.", hold=second),
        clock=Content.of("It is noon in Rome."),
    )

    run.tool_began("forecast")
    run.tool_began("clock")
    for place, said in enumerate(("Rain in Paris.", "It is noon in Rome.")):
        found = answer(run, place).text
        assert holds(found, said), f"the result of call {place + 1} is {found!r}; its tool has returned {said!r}"


@requirement("mcp-tools-join-the-loops-own")
def test_beside_own_tools(scenario: Scenario, implementation: Implementation) -> None:
    """Tools of the caller and of a server are offered together, and a turn may call both."""
    scenario.serves(TOWN)
    scenario.plays(calls(TOMORROW, Call.of("ping")), SEEN)

    run = connected(implementation.run())

    for tool in (FORECAST, TIDES):
        offered(run, tool)
    assert any(one.name.endswith("ping") for one in run.request(1).request.tools), "the caller's own tools are missing"
    run.delivered(1)
    _called(run, [("town", "forecast"), ("", "ping")])
    answers(run, 1)


EAST, WEST = (
    Server(name=name, tools=(Tool("search", f"Searches the {name} of the town.", CITY),)) for name in ("east", "west")
)


@requirement("mcp-servers-stay-apart")
def test_namesakes(scenario: Scenario, implementation: Implementation) -> None:
    """Two servers have a tool of one name: the model can call each, or the caller is told that it cannot."""
    scenario.serves(EAST)
    scenario.serves(WEST)

    def both(body: Any) -> Turn:
        there = WIRES[implementation.cell.wire].service(True).read(body).tools
        found = [one.name for server in (EAST, WEST) for one in there if is_of(one, server.tools[0])]
        return calls(*(Call.of(name, {"city": "Paris"}) for name in found)) if len(set(found)) == 2 else SEEN

    scenario.plays(Step(None, by=both), SEEN)
    run = connected(implementation.run(tools=()))

    if run.failed and not run.received:
        return
    first = run.request(1)
    if first.problems and len(_offers(first)) == 2:
        raise NotReached(f"the service refuses request 1: {first.problems[0].message}")
    assert 2 == len(_offers(first)), f"both servers have a tool search, and the request offers {_names(first)}"
    _called(run, [("east", "search"), ("west", "search")])
    run.request(2)


def _offers(received: Received) -> set[str]:
    """The names under which the tools of both servers are offered."""
    return {one.name for one in received.request.tools for server in (EAST, WEST) if is_of(one, server.tools[0])}


def _names(received: Received) -> str:
    return ", ".join(f"{one.name} ({one.description})" for one in received.request.tools)
