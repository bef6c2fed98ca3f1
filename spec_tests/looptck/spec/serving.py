"""Loops that are clients of an MCP server: what the server was asked, and what the model read of its answers."""

from __future__ import annotations

from collections.abc import Sequence

from looptck.bench.checks import Implementation
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.provider.mcp import Server, Tool
from looptck.provider.mcp.server import NAMED_IN_A_HEADER
from looptck.provider.mcp.stateless import is_stateless
from looptck.provider.mcp_results import Behaviour
from looptck.values.history import Answered, Offered
from looptck.values.transcript import McpAsked
from looptck.values.turns import Call, Turn, says
from looptck.values.verdicts import NotApplicable, NotReached

CITY = {"type": "object", "properties": {"city": {"type": "string", "description": "The city."}}, "required": ["city"]}
FORECAST = Tool("forecast", "Tells tomorrow's weather in a city.", CITY)
TIDES = Tool("tides", "Tells when the tide is high.")
CLOCK = Tool("clock", "Tells the time in a city.", CITY)
TOWN = Server(tools=(FORECAST, TIDES))
"""A server for all clients."""
OF_SESSIONS = Server(tools=TOWN.tools, stateless=False)
"""A server of the revisions with a handshake."""
AT_ONCE = Server(tools=TOWN.tools, revisions=())
"""A server of the revision without a handshake."""
TOMORROW = Call.of("forecast", {"city": "Paris"})
HIGH = Call.of("tides")
SEEN = says("I have seen it.")
ODD = {"dots": "admin.tools.list", "long": "list_" + "all_" * 24 + "of_them", "capitals": "DATA_EXPORT-v2"}
"""Names of tools that MCP allows and services may not."""


def served(
    scenario: Scenario,
    implementation: Implementation,
    *turns: Turn,
    server: Server = TOWN,
    **behaviours: Sequence[Behaviour] | Behaviour,
) -> Run:
    """A run without tools of its own, whose model says these turns and then that it has seen the results."""
    scenario.servers.clear()
    scenario.serves(server, **behaviours)
    scenario.plays(*turns, SEEN)
    return connected(implementation.run(tools=()), server)


def connected(run: Run, server: Server = TOWN) -> Run:
    """The run, in which the loop has begun to speak with its server.

    Raises:
        NotReached: it never asked it.
        NotApplicable: it speaks only revisions of the protocol that this server does not.
    """
    heard = asked(run)
    if not heard:
        raise NotReached(f"no MCP server was ever asked; the loop {run.outcome}")
    if not server.stateless and all(map(at_once, heard)):
        raise NotApplicable("the loop speaks no revision of MCP with a handshake")
    if not server.revisions and not any(map(at_once, heard)):
        raise NotApplicable("the loop speaks no revision of MCP without a handshake")
    return run


def at_once(one: McpAsked) -> bool:
    """Whether a message is of the revision without a handshake."""
    return is_stateless(one.message, one.headers)


def asked(run: Run, server: str | None = None) -> list[McpAsked]:
    """The messages to a server, or to all of them."""
    found = (one for one in run.transcript.events if isinstance(one, McpAsked))
    return [one for one in found if one.http == "POST" and server in {None, one.server}]


def of_sessions(run: Run) -> list[McpAsked]:
    """The messages in sessions: all but those that begin one, or try the revision without a handshake first."""
    return [one for one in asked(run) if one.method != "initialize" and not at_once(one)]


def agreed(run: Run, server: Server = OF_SESSIONS) -> str:
    """The revision that the loop and the server have agreed on. NotReached: none so far."""
    for one in asked(run):
        if one.method == "initialize" and one.status == 200:
            wanted = one.message["params"]["protocolVersion"]
            return wanted if wanted in server.revisions else server.revisions[0]
    raise NotReached(f"no session has begun; the loop {run.outcome}")


def names_its_revision(run: Run, server: Server = OF_SESSIONS) -> str:
    """The agreed revision. NotApplicable: one in which no header names it."""
    found = agreed(run, server)
    if found not in NAMED_IN_A_HEADER:
        raise NotApplicable(f"in revision {found} no header names the revision")
    return found


def not_refused(run: Run) -> None:
    """Raises NotApplicable if the loop or the service has refused a name, which another row judges."""
    if not run.requests and run.failed:
        raise NotApplicable(f"the loop refuses the name: it {run.outcome}")
    if run.request(1).problems:
        raise NotApplicable("the service refuses the name")


def offered(run: Run, tool: Tool, n: int = 1) -> Offered:
    """The tool as request ``n`` offers it, under its own name or another. AssertionError: it does not."""
    found = [one for one in run.request(n).request.tools if one.name == tool.name or is_of(one, tool)]
    others = ", ".join(sorted(one.name for one in run.request(n).request.tools)) or "no tools"
    assert found, f"the server lists {tool.name}, and request {n} offers {others}"
    return found[0]


def is_of(one: Offered, tool: Tool) -> bool:
    """Whether what is offered has the description of the tool."""
    return bool(tool.description) and tool.description in one.description


def answer(run: Run, place: int = 0, turn: int = 1) -> Answered:
    """The result of a call of the turn in the next request. NotReached: there is none."""
    call = run.delivered(turn).calls[place]
    found = [one for one in run.new_answers(turn) if one.id == call.id]
    if not found:
        raise NotReached(f"request {turn + 1} has no result for {call.tool}")
    return found[0]
