"""Profile ``anthropic-loop``: tools that the service runs itself, its server tools and the tools of MCP servers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import strategies as st

from looptck.bench.assertions.results import answers
from looptck.bench.assertions.tool_runs import tools_ran
from looptck.bench.assertions.turns import turn_echoed
from looptck.bench.checks import Implementation, control, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.catalogue.agents import Tool, agent
from looptck.spec import strategies
from looptck.spec.messages import carrying, listed
from looptck.values.plain import plain
from looptck.values.transcript import Received
from looptck.values.turns import Call, Hosted, HostedKind, Piece, Text, Turn, calls, says, turn
from looptck.values.verdicts import NotApplicable

QUERY = {
    "type": "object",
    "properties": {"query": {"type": "string", "description": "What to look for."}},
    "required": ["query"],
}
BAIT = Tool("search", "Searches in the files of the user.", QUERY)
"""A local tool with the same name as a tool of an MCP server. The service's own search allows no such twin."""
WEATHER = Call.of("weather", {"city": "Paris"})
RAN = [{"weather": {"city": "Paris"}}]

WITH_A_CALL = {
    "search": turn("I search.", Hosted(), WEATHER),
    "mcp": turn("I search.", Hosted("mcp"), WEATHER),
    "search-pending": turn(Hosted(done=False), WEATHER),
    "mcp-pending": turn(Hosted("mcp", done=False), WEATHER),
    "behind-the-call": turn(WEATHER, Hosted(), Hosted("mcp", "rain")),
}
"""Turns in which the service has run, or is about to run, one of its tools in addition to a local call."""


@requirement("claude-hosted-calls-are-never-dispatched")
@pytest.mark.parametrize("first", WITH_A_CALL.values(), ids=WITH_A_CALL)
def test_bait(scenario: Scenario, implementation: Implementation, first: Turn) -> None:
    """A local tool with that name exists and runs when called; a call that the service runs does not run it."""
    tools = [*agent("assistant").tools, BAIT]
    scenario.plays(calls(Call.of(BAIT.name, {"query": "x"})), says("Found."))
    control(implementation.run(tools=tools), BAIT.name)
    scenario.plays(first, says("Done."))

    run = implementation.run(tools=tools)

    tools_ran(run, RAN)
    assert [call.id for call in run.delivered(1).calls] == [answer.id for answer in run.new_answers(1)]


HOSTED = st.builds(Hosted, st.sampled_from(["search", "mcp"]), st.text(strategies.CHARACTERS, max_size=10))
PIECES: st.SearchStrategy[Piece] = st.one_of(HOSTED, st.just(Text("I look.")), st.just(WEATHER))


@requirement("claude-hosted-blocks-go-back")
def test_any_hosted_blocks(scenario: Scenario, implementation: Implementation) -> None:
    """Any turn of hosted tools, text and calls in any order, with a hosted tool after a call."""

    @implementation.every(st.lists(PIECES, max_size=5), HOSTED, st.lists(PIECES, max_size=2))
    def holds(before: list[Piece], hosted: Hosted, after: list[Piece]) -> None:
        scenario.plays(turn(*before, Call.of("ping"), hosted, *after), says("Done."))

        run = implementation.run()

        turn_echoed(run, 1)


@requirement("claude-results-stand-alone-beside-a-pending-tool")
@pytest.mark.parametrize("kind", ["search", "mcp"])
@pytest.mark.parametrize("count", [1, 2])
def test_beside_a_pending_tool(
    scenario: Scenario, implementation: Implementation, kind: HostedKind, count: int
) -> None:
    """The message after the turn holds only results, and the request offers the same tools as the one before."""
    wanted = [WEATHER, Call.of("ping")][:count]
    scenario.plays(turn("I search.", Hosted(kind, done=False), *wanted), turn(Hosted(kind), "Found."))

    run = implementation.run()

    run.delivered(1)
    assert {"tool_result"} == {block.get("type") for blocks in carrying(run, 2) for block in blocks}
    assert run.request(1).request.tools == run.request(2).request.tools


SERVERS = [
    {"name": "looptck", "url": "https://mcp.looptck.example/sse"},
    {"name": "second", "url": "https://second.looptck.example/mcp"},
]
NAMES = [server["name"] for server in SERVERS]
KNOWS_TOOLSETS = "2025-11-20"
"""The date of the first version of the connector with toolsets (MCP connector, Deprecated version).

The service still answers requests of the version before it, which name their servers and no toolset.
"""


def _versions(received: Received) -> list[str]:
    """The versions of the connector that a request asks for."""
    return re.findall(r"\bmcp-client-(\d{4}-\d{2}-\d{2})\b", received.headers.get("anthropic-beta", ""))


def _offered_toolsets(received: Received) -> list[dict[str, Any]]:
    return [tool for tool in listed(received, "tools") if tool.get("type") == "mcp_toolset"]


def _with_servers(scenario: Scenario, implementation: Implementation, count: int = 2) -> Run:
    """A run with MCP servers that has two requests, the second with results."""
    scenario.plays(turn(Hosted("mcp"), WEATHER), says("It is warm."))
    return implementation.run(mcp_servers=SERVERS[:count])


def _both(run: Run) -> Iterator[Received]:
    """Both requests. Raises NotReached if there are fewer than two and the only one was valid."""
    run.request(1)
    yield from run.requests
    run.request(2)


COUNTS = pytest.mark.parametrize("count", [1, 2])


@requirement("claude-paused-turn-is-resumed")
def test_tools_of_a_resumed_turn(scenario: Scenario, implementation: Implementation) -> None:
    """The request that resumes a paused turn has the same tools, and the same MCP servers if there are any."""
    scenario.plays(turn("I search.", Hosted("mcp", done=False), stop="pause"), says("Done."))

    run = implementation.run(mcp_servers=SERVERS if implementation.started.can("mcp") else ())

    first, second = run.request(1), run.request(2)
    if second.request.continues:
        raise NotApplicable("a request that continues a thread does not name tools")
    for member in ("tools", "mcp_servers"):
        before, after = listed(first, member), listed(second, member)
        assert before == after, (
            f"the request that resumes the turn has {len(after)} entries in {member}, and the one before it "
            f"{len(before)}: they are not the same"
        )


@requirement("claude-mcp-servers-are-named")
@COUNTS
def test_servers(scenario: Scenario, implementation: Implementation, count: int) -> None:
    """Both requests name the servers with type, name and url."""
    run = _with_servers(scenario, implementation, count)

    wanted = [{"type": "url", **server} for server in SERVERS[:count]]
    for received in _both(run):
        named = [
            {key: server.get(key) for key in ("type", "name", "url")} for server in listed(received, "mcp_servers")
        ]
        assert wanted == sorted(named, key=lambda server: str(server["name"])), (
            f"request {received.n} names the MCP servers {plain(named)}, and the run has {plain(wanted)}"
        )


@requirement("claude-mcp-toolsets-are-offered")
@COUNTS
def test_toolsets(scenario: Scenario, implementation: Implementation, count: int) -> None:
    """Both requests have exactly one toolset for each server; a thread keeps the toolsets that it began with."""
    run = _with_servers(scenario, implementation, count)

    for received in _both(run):
        if received.request.continues:
            continue
        toolsets = _offered_toolsets(received)
        if not toolsets and max(_versions(received), default=KNOWS_TOOLSETS) < KNOWS_TOOLSETS:
            raise NotApplicable("the requested version of the MCP connector has no toolsets")
        found = sorted(str(one.get("mcp_server_name")) for one in toolsets)
        assert NAMES[:count] == found, (
            f"request {received.n} has toolsets of {plain(found)}, and the run has the servers {plain(NAMES[:count])}"
        )


@requirement("claude-mcp-stands-beside-tools")
def test_tools_beside_servers(scenario: Scenario, implementation: Implementation) -> None:
    """Both requests offer the local tools, and the called tool runs and is answered."""
    run = _with_servers(scenario, implementation)

    for received in _both(run):
        offered = {tool.name for tool in received.request.tools}
        assert set(run.offered) == offered, (
            f"beside MCP servers, request {received.n} offers {plain(sorted(offered))}, and the run has the tools "
            f"{plain(sorted(run.offered))}"
        )
    tools_ran(run, RAN)
    answers(run, 1)
    assert "It is warm." == run.value.text


@requirement("claude-mcp-beta-is-asked-for")
def test_beta(scenario: Scenario, implementation: Implementation) -> None:
    """Both requests ask for a version of the connector that fits their toolsets; the version is recorded."""
    run = _with_servers(scenario, implementation)

    for received in _both(run):
        versions = _versions(received)
        least = KNOWS_TOOLSETS if _offered_toolsets(received) else ""
        header = received.headers.get("anthropic-beta", "")
        assert any(version >= least for version in versions), (
            f"request {received.n} names MCP servers, and its header anthropic-beta is {header!r}, which asks for no "
            f"mcp-client-{least or '…'}"
        )
        implementation.diverges("beta of the MCP connector", ", ".join(versions))
