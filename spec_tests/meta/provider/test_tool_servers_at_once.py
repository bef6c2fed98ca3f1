"""The kit's MCP servers in the revision without a handshake, and how values are written in its headers."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptck.provider.mcp import STATELESS, Server
from looptck.provider.mcp.stateless import decoded, encoded, mirrored
from looptck.provider.mcp_results import AsksAgain, Content, RpcError
from looptck.provider.server import Provider
from meta.provider.test_tool_servers import BEGIN, TOOLS, Json, Played

KEY = "io.modelcontextprotocol/"
META = {KEY + "protocolVersion": STATELESS, KEY + "clientCapabilities": {}}


@pytest.fixture
def provider() -> Any:
    """A provider that serves."""
    with Provider() as one:
        yield one


def _asked(played: Played, method: str, **params: Any) -> httpx.Response:
    return played.post(method, {"_meta": META, **params})


def _result(reply: httpx.Response) -> Json:
    assert 200 == reply.status_code
    result: Json = reply.json()["result"]
    return result


def test_discovery(provider: Provider) -> None:
    """A server for all clients says which revisions it speaks, and begins no session."""
    reply = _asked(Played(provider, Server(tools=TOOLS)), "server/discover")

    found = _result(reply)
    assert [STATELESS, "2025-11-25", "2025-06-18", "2025-03-26"] == found["supportedVersions"]
    assert {"tools": {}} == found["capabilities"]
    assert "mcp-session-id" not in reply.headers


def test_results_describe_themselves(provider: Provider) -> None:
    """Each result has its type and the server's name, and lists say how long they hold."""
    played = Played(provider, Server(tools=TOOLS), t0=Content.of("Fine."), t1=AsksAgain("s"), t2=RpcError("broken"))

    listed = _result(_asked(played, "tools/list"))
    fine, again = (_result(_asked(played, "tools/call", name=name, arguments={})) for name in ("t0", "t1"))
    broken = _asked(played, "tools/call", name="t2", arguments={}).json()

    assert (0, "private") == (listed["ttlMs"], listed["cacheScope"])
    assert ["complete", "complete", "input_required"] == [one["resultType"] for one in (listed, fine, again)]
    assert {"town"} == {one["_meta"][KEY + "serverInfo"]["name"] for one in (listed, fine, again)}
    assert "s" == again["requestState"]
    assert {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "broken"}} == broken


def test_a_type_of_its_own(provider: Provider) -> None:
    """A result may have a type that no client knows."""
    played = Played(provider, Server(tools=TOOLS), t0=Content.of("Fine.", type="kit/other"))

    assert "kit/other" == _result(_asked(played, "tools/call", name="t0", arguments={}))["resultType"]


@pytest.mark.parametrize(
    ("server", "method", "meta", "status", "code"),
    [
        (Server(tools=TOOLS), "ping", META, 404, -32601),
        (Server(tools=TOOLS), "tools/list", META | {KEY + "protocolVersion": "1900-01-01"}, 400, -32022),
        (Server(tools=TOOLS, has_tools=False), "tools/list", META, 200, -32601),
        (Server(tools=TOOLS, revisions=()), "initialize", {}, 400, -32022),
        (Server(tools=TOOLS, revisions=()), "tools/list", {}, 400, -32600),
    ],
    ids=["no-ping", "other-revision", "no-tools", "no-handshake", "no-metadata"],
)
def test_refusals(provider: Provider, server: Server, method: str, meta: Json, status: int, code: int) -> None:
    """What a server does not know is refused with the status and the code of the specification."""
    params = BEGIN if method == "initialize" else {"_meta": meta}

    reply = Played(provider, server).post(method, params)

    assert (status, code) == (reply.status_code, reply.json()["error"]["code"])
    if code == -32022:
        assert STATELESS in reply.json()["error"]["data"]["supported"]


def test_streams_cannot_be_resumed(provider: Provider) -> None:
    """Events of a stream have no ids, and none comes before the answer."""
    played = Played(provider, Server(tools=TOOLS, streams=True))

    text = _asked(played, "tools/list").text

    assert "id: " not in text.replace('"id"', "")
    assert 1 == text.count("event: message")


def test_an_empty_cursor(provider: Provider) -> None:
    """A server may name its second page by the empty text."""
    played = Played(provider, Server(tools=TOOLS, page=2, cursor=""))

    assert "" == _result(_asked(played, "tools/list"))["nextCursor"]
    assert ["t2"] == [one["name"] for one in _result(_asked(played, "tools/list", cursor=""))["tools"]]


@given(st.text())
def test_any_text_has_a_header(text: str) -> None:
    """A header has visible ASCII alone, and is read as the text that it was written for."""
    header = encoded(text)

    assert all(" " <= sign <= "~" for sign in header)
    assert header == header.strip() != ""
    assert text == decoded(header)


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("us-west1", "us-west1"),
        ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
        ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
    ],
)
def test_examples_of_the_specification(text: str, header: str) -> None:
    """2026-07-28, Streamable HTTP, Value Encoding: its table of examples."""
    assert header == encoded(text)


def test_marked_parameters() -> None:
    """Values are found by their path; those that are absent or null have no header."""
    mark = {"type": "string", "x-mcp-header": "A"}
    deep = {"type": "object", "properties": {"b": {"type": "integer", "x-mcp-header": "B"}}}
    more = {"c": {"type": "boolean", "x-mcp-header": "C"}, "d": {"type": "string", "x-mcp-header": "D"}}
    schema = {"type": "object", "properties": {"a": mark, "in": deep, **more}}

    found = mirrored(schema, {"a": "x", "in": {"b": -7}, "c": False, "d": None})

    assert {"mcp-param-a": "x", "mcp-param-b": "-7", "mcp-param-c": "false"} == found
