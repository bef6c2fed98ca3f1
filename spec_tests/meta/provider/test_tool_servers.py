"""The kit's MCP servers: what they answer to each message, in JSON and as a stream, as a client on a socket sees it."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from looptck.provider.mcp import Server, Tool
from looptck.provider.mcp_results import ID_OF_THE_CALL, Content, Forgets, HangsUp, RpcError, Served
from looptck.provider.mock_run import MockRun
from looptck.provider.script import Script
from looptck.provider.server import Provider
from looptck.provider.toolbox import Toolbox
from looptck.values.transcript import McpAsked, ToolBegan, ToolEnded
from looptck.wires import WIRES

Json = dict[str, Any]
TOOLS = tuple(Tool(f"t{n}", f"Tool {n}.") for n in range(3))
BEGIN = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


class Played:
    """A run with one server, and a client of it."""

    def __init__(self, provider: Provider, server: Server, **behaviours: Any) -> None:
        served = Served(server, {tool: [one] for tool, one in behaviours.items()})
        self.run = MockRun(WIRES["openai-chat"], Script(), Toolbox(), servers=[served])
        self.url = f"{provider.open(self.run)}/mcp/{server.name}"
        self.headers = {"accept": "application/json, text/event-stream"}

    def post(self, method: str, params: Json | None = None, id: Any = 1) -> httpx.Response:
        message = {"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}}
        return httpx.post(self.url, json=message, headers=self.headers, trust_env=False)

    def begin(self) -> None:
        self.headers["mcp-session-id"] = self.post("initialize", BEGIN).headers["mcp-session-id"]


@pytest.fixture
def provider() -> Any:
    """A provider that serves."""
    with Provider() as one:
        yield one


def test_pages(provider: Provider) -> None:
    """Each page has the cursor of the next, and the last has none; a cursor that was never given is an error."""
    played = Played(provider, Server(tools=TOOLS, page=2))
    played.begin()

    first = played.post("tools/list").json()["result"]
    second = played.post("tools/list", {"cursor": first["nextCursor"]}).json()["result"]
    wrong = played.post("tools/list", {"cursor": "2"}).json()["error"]

    assert ["t0", "t1"] == [one["name"] for one in first["tools"]]
    assert [{"name": "t2", "description": "Tool 2.", "inputSchema": dict(TOOLS[2].schema)}] == second["tools"]
    assert "nextCursor" not in second
    assert -32602 == wrong["code"]


def test_sessions(provider: Provider) -> None:
    """Without a session, with one that is over, and with a revision that it does not speak, a message is refused."""
    played = Played(provider, Server(tools=TOOLS, revisions=("2025-06-18",)), t0=Forgets())

    assert 400 == played.post("tools/list").status_code
    played.begin()
    assert 200 == played.post("tools/list").status_code
    played.headers["mcp-protocol-version"] = "2025-11-25"
    assert 400 == played.post("tools/list").status_code
    played.headers["mcp-protocol-version"] = "2025-06-18"
    assert 404 == played.post("tools/call", {"name": "t0"}).status_code
    assert 404 == played.post("tools/list").status_code
    assert [200, 200, 404, 404] == [
        one.status for one in played.run.transcript.events if isinstance(one, McpAsked) and one.status != 400
    ]


def test_other_http(provider: Provider) -> None:
    """GET offers no stream, DELETE ends the session once, and a notification is accepted without a body."""
    played = Played(provider, Server(tools=TOOLS))
    played.begin()

    assert 405 == httpx.get(played.url, headers=played.headers, trust_env=False).status_code
    told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    accepted = httpx.post(played.url, json=told, headers=played.headers, trust_env=False)
    assert (202, b"") == (accepted.status_code, accepted.content)
    ended = [httpx.delete(played.url, headers=played.headers, trust_env=False).status_code for _ in range(2)]
    assert [200, 404] == ended


def test_a_call_is_a_tool_run(provider: Provider) -> None:
    """A call of a tool is noted as the run of a tool of this server, with what it has returned."""
    played = Played(provider, Server(tools=TOOLS), t1=Content.of("Fine.", structured={"a": 1}))
    played.begin()

    found = played.post("tools/call", {"name": "t1", "arguments": {"x": 1}}, id="c1").json()

    result = {"content": [{"type": "text", "text": "Fine."}], "structuredContent": {"a": 1}, "isError": False}
    assert {"jsonrpc": "2.0", "id": "c1", "result": result} == found
    events = played.run.transcript.events
    began = [one for one in events if isinstance(one, ToolBegan)]
    assert [("town", "t1", {"x": 1})] == [(one.server, one.tool, one.arguments) for one in began]
    assert [{"value": "Fine."}] == [one.answer for one in events if isinstance(one, ToolEnded)]


def test_streams(provider: Provider) -> None:
    """A server that streams sends a comment, what comes before the answer, and the answer; ids may be alike."""
    ping = {"jsonrpc": "2.0", "id": "p", "method": "ping"}
    told = RpcError("broken", before=(ping, {**ping, "id": ID_OF_THE_CALL}))
    played = Played(provider, Server(tools=TOOLS, streams=True), t0=told)
    played.begin()

    text = played.post("tools/call", {"name": "t0"}).text

    data = ["".join(line[6:] for line in one.split("\n") if line.startswith("data: ")) for one in text.split("\n\n")]
    wanted = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "broken"}}
    assert [ping, {**ping, "id": 1}, wanted] == [json.loads(one) for one in data if one]


@pytest.mark.parametrize("asked", ["2025-03-26", "2025-06-18", "2025-11-25"])
@pytest.mark.parametrize("speaks", [("2025-06-18",), ("2025-11-25", "2025-06-18")], ids=["older-server", "server"])
def test_streams_begin_with_an_event_without_data(provider: Provider, asked: str, speaks: tuple[str, ...]) -> None:
    """It comes in the revisions that have it: a client that asks for an earlier one may read it as JSON."""
    played = Played(provider, Server(tools=TOOLS, streams=True, revisions=speaks))

    begun = played.post("initialize", {**BEGIN, "protocolVersion": asked})
    played.headers |= {"mcp-session-id": begun.headers["mcp-session-id"], "mcp-protocol-version": speaks[0]}
    wanted = asked == speaks[0] == "2025-11-25"
    if not wanted:
        played.headers["mcp-protocol-version"] = speaks[-1]
    listed = played.post("tools/list")

    assert [wanted] * 2 == ["id: 0\ndata:\n\n" in one.text for one in (begun, listed)]


@pytest.mark.parametrize("streams", [False, True], ids=["json", "stream"])
def test_hang_up(provider: Provider, streams: bool) -> None:
    """A server that hangs up sends no answer, and in a stream no id by which it could be resumed."""
    played = Played(provider, Server(tools=TOOLS, streams=streams), t0=HangsUp())
    played.begin()

    with pytest.raises(httpx.RemoteProtocolError):
        played.post("tools/call", {"name": "t0"})


def test_a_later_revision_is_refused_as_by_an_older_server(provider: Provider) -> None:
    """A client that tries a revision without a handshake gets 400, and no error of such a revision."""
    played = Played(provider, Server(tools=TOOLS, stateless=False))

    found = played.post("server/discover", {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}})

    assert (400, -32600) == (found.status_code, found.json()["error"]["code"])
