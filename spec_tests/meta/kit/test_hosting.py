"""Tools of the service are played to loops that can offer them, with those tools on offer, and to no others."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.bench.hosting import SERVER, offering
from looptck.drivers import Started
from looptck.drivers.case_message import RunOptions
from looptck.provider.script import Step
from looptck.values.turns import Hosted, Served, says, turn
from looptck.values.verdicts import NotApplicable
from looptck.wires import WIRES

SEARCH, MCP = Step(turn(Hosted(), "Found.")), Step(turn(Hosted("mcp"), "Found."))
CALLED = Served('{"type": "server_tool_use", "id": "srvtoolu_x", "name": "bash_code_execution", "input": {}}')
RAN = Served('{"type": "bash_code_execution_tool_result", "tool_use_id": "srvtoolu_x", "content": {}}')
CODE, OFFERED = Step(turn(CALLED, RAN, "Found.")), {"type": "code_execution_20250825", "name": "code_execution"}
LISTED = Step(turn(Served('{"type": "mcp_list_tools", "id": "mcpl_x", "tools": []}'), "Found."))


def able(*capabilities: str) -> Started:
    """A driver that declares these."""
    return Started("x", "1", "python", ("openai-responses",), ("sync",), (), dict.fromkeys(capabilities, True), {})


@pytest.mark.parametrize("wire", ["openai-responses", "anthropic-messages"])
@pytest.mark.parametrize(
    ("steps", "wanted"),
    [
        ([SEARCH], {"hosted_tools": [{"kind": "search"}], "mcp_servers": ()}),
        ([MCP], {"hosted_tools": [], "mcp_servers": [SERVER]}),
        ([Step(says("No.")), MCP, SEARCH], {"hosted_tools": [{"kind": "search"}], "mcp_servers": [SERVER]}),
        ([CODE, CODE], {"hosted_tools": [{"kind": "other", "tool": OFFERED}], "mcp_servers": ()}),
        ([LISTED], {"hosted_tools": [], "mcp_servers": [SERVER]}),
        ([Step(says("No."))], {"hosted_tools": [], "mcp_servers": ()}),
    ],
)
def test_what_is_played_is_offered(wire: str, steps: list[Step], wanted: dict[str, Any]) -> None:
    """Search and server stand in the setting of a run whose script plays them."""
    options = offering(RunOptions(), steps, WIRES[wire], able("hosted", "hosted_others", "mcp"))

    assert wanted == {name: getattr(options, name) for name in wanted}


def test_servers_of_a_case_stay() -> None:
    """A case that names servers of its own keeps them."""
    own = [{"name": "own", "url": "https://own.example/mcp"}]
    options = offering(RunOptions(mcp_servers=own), [MCP], WIRES["anthropic-messages"], able("mcp"))

    assert own == options.mcp_servers


@pytest.mark.parametrize(("step", "capability"), [(SEARCH, "hosted"), (MCP, "mcp"), (CODE, "hosted_others")])
def test_a_loop_that_cannot_offer_them_is_spared(step: Step, capability: str) -> None:
    """The check is not applicable, and names what is lacking."""
    with pytest.raises(NotApplicable, match=f"the driver declares no capability `{capability}`"):
        offering(
            RunOptions(), [step], WIRES["openai-responses"], able(*({"hosted", "hosted_others", "mcp"} - {capability}))
        )


def test_a_tool_that_no_request_can_offer_is_not_played() -> None:
    """A call of a tool that looptck does not know is not played to a loop that offered nothing; its result may be."""
    unknown = Step(turn(Served('{"type": "server_tool_use", "id": "srvtoolu_x", "name": "teleport", "input": {}}')))
    every = able("hosted", "mcp", "hosted_others")

    with pytest.raises(NotApplicable, match="does not know how a request offers what makes `server_tool_use`"):
        offering(RunOptions(), [unknown], WIRES["anthropic-messages"], every)
    assert [] == offering(RunOptions(), [Step(turn(RAN))], WIRES["anthropic-messages"], every).hosted_tools


def test_wires_without_such_tools_ask_for_nothing() -> None:
    """Where the turn is played without them, no loop has to offer any."""
    options = offering(RunOptions(), [SEARCH, MCP], WIRES["openai-chat"], able())

    assert ([], ()) == (options.hosted_tools, options.mcp_servers)
