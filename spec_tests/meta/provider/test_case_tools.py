"""The MCP server that has the tools of a case."""

from __future__ import annotations

import json
from typing import Any

import pytest

from looptck.catalogue.agents import Tool
from looptck.provider.gate import Gate
from looptck.provider.http import HttpRequest
from looptck.provider.mcp import REVISIONS, STATELESS
from looptck.provider.mock_run import MockRun
from looptck.provider.toolbox import Behaviour, Raises, Returns, ReturnsParts
from looptck.values.images import Image
from looptck.values.transcript import McpAsked, ToolBegan, ToolEnded, UnroutedRequest
from meta.provider.mock_runs import mock_run, noted, parsed_reply, reply

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = Tool("weather", "The weather.", SCHEMA)
PNG = Image("dot", "image/png", b"\x89PNG")


def offering(*weather: Behaviour) -> MockRun:
    """A run of a case with a tool that has a handler and one that has none."""
    played = mock_run(weather=[*weather]) if weather else mock_run()
    played.offered = [WEATHER, Tool("latent", "Nobody runs it.", SCHEMA, handled=False)]
    return played


def said(played: MockRun, method: str, **params: Any) -> Any:
    """The answer of the server to a request with a handshake behind it."""
    message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
    status, headers, body = parsed_reply(reply(played, message, "/c1/mcp"))
    assert (200, "application/json") == (status, headers["content-type"])
    answer = json.loads(body)
    assert 7 == answer["id"]
    return answer.get("result", answer.get("error"))


def called(played: MockRun, arguments: Any = None, name: str = "weather") -> Any:
    """The result of a call."""
    return said(played, "tools/call", name=name, arguments=arguments or {"city": "Paris"})


def test_tools_with_a_handler_are_listed() -> None:
    """Each has its name, its description and its schema; one that nobody runs is not there."""
    listed = said(offering(), "tools/list")["tools"]

    assert [{"name": "weather", "description": "The weather.", "inputSchema": SCHEMA}] == listed


@pytest.mark.parametrize("revision", REVISIONS)
def test_handshake_begins_no_session(revision: str) -> None:
    """The server speaks the revision that its client asks for, and says that it has tools."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": revision}}
    _, headers, body = parsed_reply(reply(offering(), message, "/c1/mcp"))

    assert "mcp-session-id" not in headers
    assert revision == json.loads(body)["result"]["protocolVersion"]
    assert "tools" in json.loads(body)["result"]["capabilities"]


def test_requests_without_a_handshake_are_answered() -> None:
    """The revision without a handshake has its own members in a result."""
    meta = {"io.modelcontextprotocol/protocolVersion": STATELESS}
    result = said(offering(Returns("Sun.")), "tools/call", name="weather", arguments={"city": "Rome"}, _meta=meta)

    assert "complete" == result["resultType"]
    assert [{"type": "text", "text": "Sun."}] == result["content"]


@pytest.mark.parametrize(
    ("behaviour", "content", "failed"),
    [
        (Returns("Sun."), [{"type": "text", "text": "Sun."}], False),
        (Returns(""), [{"type": "text", "text": ""}], False),
        (Returns({"sky": "blü"}), [{"type": "text", "text": '{"sky":"blü"}'}], False),
        (Returns(None), [{"type": "text", "text": "null"}], False),
        (Raises("No.", "KeyError"), [{"type": "text", "text": "KeyError: No."}], True),
        (
            ReturnsParts(("Look:", PNG)),
            [
                {"type": "text", "text": "Look:"},
                {"type": "image", "data": PNG.base64, "mimeType": "image/png"},
            ],
            False,
        ),
    ],
)
def test_result_is_what_the_toolbox_says(behaviour: Behaviour, content: object, failed: bool) -> None:
    """A text is sent as it is, any other value as JSON, parts as such, and an error with its type."""
    assert {"content": content, "isError": failed} == called(offering(behaviour))


def test_a_call_is_a_tool_run() -> None:
    """The transcript has it as any other; the server is none of those that a check watches."""
    played = offering()
    called(played, {"city": "Oslo"})

    assert [("weather", {"city": "Oslo"}, "")] == [
        (one.tool, one.arguments, one.server) for one in noted(played, ToolBegan)
    ]
    assert [{"value": "result 1 of weather"}] == [one.answer for one in noted(played, ToolEnded)]
    assert [] == [*noted(played, McpAsked), *noted(played, UnroutedRequest)]


@pytest.mark.parametrize("name", ["latent", "nothing"])
def test_a_tool_that_is_not_listed_cannot_be_called(name: str) -> None:
    """Such a call is the protocol's error, and no tool runs."""
    played = offering()

    assert f"Unknown tool: {name}" == called(played, name=name)["message"]
    assert [] == noted(played, ToolBegan)


def test_a_held_tool_holds_its_result() -> None:
    """The reply waits at the gate of the tool."""
    gate = Gate("held")
    played = offering(Returns("Late.", hold=gate))
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "weather", "arguments": {}}}

    answer = played.answer(HttpRequest("POST", "/c1/mcp", {}, json.dumps(body).encode()))

    assert answer is not None
    assert gate is answer.parts[0]


@pytest.mark.parametrize(("method", "body", "status"), [("GET", b"", 405), ("POST", b"{", 400), ("POST", b"[]", 400)])
def test_what_is_no_message_is_refused(method: str, body: bytes, status: int) -> None:
    """The server offers no stream of its own, and reads single messages alone."""
    assert status == parsed_reply(reply(offering(), body, "/c1/mcp", method))[0]
