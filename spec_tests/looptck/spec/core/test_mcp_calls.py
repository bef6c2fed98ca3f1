"""Calls of tools of MCP servers: which tool is called, where, and with which arguments."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.bench.assertions.results import answers
from looptck.bench.checks import Implementation, refusable, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.provider.gates import ABSENCE, tool_ended
from looptck.provider.mcp import Server, Tool
from looptck.provider.mcp_results import Content
from looptck.provider.script import Step
from looptck.spec.serving import (
    CITY,
    CLOCK,
    FORECAST,
    HIGH,
    ODD,
    SEEN,
    TIDES,
    TOMORROW,
    TOWN,
    answer,
    asked,
    connected,
    is_of,
    not_refused,
    offered,
    served,
)
from looptck.values.history import holds
from looptck.values.jsontext import canonical
from looptck.values.plain import Listed, plain
from looptck.values.transcript import Received, ToolBegan
from looptck.values.turns import Call, Turn, calls
from looptck.values.verdicts import NotReached
from looptck.wires import WIRES


@requirement("mcp-call-names-the-tool")
@pytest.mark.parametrize("name", [FORECAST.name, *ODD.values()], ids=["plain", *ODD])
@refusable("the service allows fewer names than MCP")
def test_name_of_a_call(scenario: Scenario, implementation: Implementation, name: str) -> None:
    """A call under the offered name reaches the server under the tool's own."""
    tool = Tool(name, f"Lists what is there, as {name[:40]}.", CITY)
    run = served(scenario, implementation, calls(Call.of(name, {"city": "Paris"})), server=Server(tools=(tool,)))

    not_refused(run)
    offered(run, tool)
    run.delivered(1)
    _called(run, [("town", name)])


def _called(run: Run, wanted: list[tuple[str, str]]) -> None:
    """Assert that these tools were called, each with its server, in any order."""
    ran = [(one.server, one.tool) for one in run.transcript.events if isinstance(one, ToolBegan)]
    sent = [(one.message.get("params") or {}).get("name") for one in asked(run) if one.method == "tools/call"]
    assert sorted(wanted) == sorted(ran), f"the calls of {_at(wanted)} reach {_at(ran)}, under the names {Listed(sent)}"


def _at(calls: list[tuple[str, str]]) -> str:
    return ", ".join(f"{tool} at {server}" if server else tool for server, tool in calls) or "no tool"


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


LABEL = Tool(
    "label",
    "Puts a label on a place, or takes it off.",
    {
        "type": "object",
        "properties": {"place": {"type": "string"}, "label": {"type": ["string", "null"]}},
        "required": ["place", "label"],
    },
)


@requirement("mcp-arguments-arrive-as-written")
def test_null(scenario: Scenario, implementation: Implementation) -> None:
    """An argument that has to be there is null, as its schema allows."""
    arguments = {"place": "harbour", "label": None}

    run = served(scenario, implementation, calls(Call.of("label", arguments)), server=Server(tools=(LABEL,)))

    run.delivered(1)
    run.tool_began("label")
    got = run.arguments_of("label")
    assert [arguments] == got, f"the model wrote {plain(arguments)}; the server got {plain(got)}"


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
