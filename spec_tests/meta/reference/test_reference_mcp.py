"""The reference as a client of MCP servers: what it promises that no row of the suite asks of every client."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from looptck_reference.mcp import McpClient, McpFailed, value_of
from looptck_reference.mcp.client import REVISION
from looptck_reference.mcp.metadata import STATELESS, coded
from looptck_reference.vocabulary.parts import Parts

Json = dict[str, Any]
Answers = Callable[[Json], httpx.Response | Json]
"""What a server answers to a message: the whole reply, or the result of the request."""

TEXT = {"type": "text", "text": "Fine."}
IMAGE = {"type": "image", "data": "iVBORw0K", "mimeType": "image/png"}
RESULTS: dict[str, tuple[Json, Any]] = {
    "link": ({"content": [{"type": "resource_link", "uri": "x://1", "name": "one"}]}, "one: x://1"),
    "bytes": (
        {"content": [{"type": "resource", "resource": {"uri": "x://1", "blob": ""}}]},
        "[x://1 is no text, and is left out]",
    ),
    "audio": ({"content": [{"type": "audio", "mimeType": "audio/wav", "data": ""}]}, "[audio (audio/wav) is left out]"),
    "image": (
        {"content": [TEXT, IMAGE]},
        [TEXT, {"type": "image", "media_type": "image/png", "data": "iVBORw0K"}],
    ),
}


@pytest.mark.parametrize(("result", "value"), RESULTS.values(), ids=RESULTS)
def test_values(result: Json, value: Any) -> None:
    """A result is a text, or texts and images if there is an image."""
    found = value_of(result)

    assert value == found
    assert isinstance(found, Parts) == isinstance(value, list)


def server(answers: Answers) -> tuple[McpClient, list[Json]]:
    """A client of a server that answers so, and the messages that the server gets."""
    heard: list[Json] = []

    def handle(request: httpx.Request) -> httpx.Response:
        message = json.loads(request.content)
        heard.append(message)
        found = answers(message)
        if isinstance(found, httpx.Response):
            return found
        return httpx.Response(200, json={"jsonrpc": "2.0", "id": message.get("id"), "result": found})

    return McpClient("town", "http://town.test", httpx.Client(transport=httpx.MockTransport(handle))), heard


def of_sessions(message: Json) -> Json:
    """What a server with a handshake answers to the messages of a beginning."""
    return {"protocolVersion": REVISION, "capabilities": {"tools": {}}}


def refusal(status: int, code: int) -> httpx.Response:
    """An error of the protocol with a status of its own."""
    return httpx.Response(status, json={"error": {"code": code, "message": "no"}})


OTHERS = {
    "nothing": httpx.Response(400),
    "no-json": httpx.Response(404, content=b"<html>"),
    "below-the-codes": refusal(400, -32100),
    "above-the-codes": refusal(400, -32019),
    "an-unknown-method-with-another-status": refusal(400, -32601),
    "another-error-with-404": refusal(404, -32600),
}


@pytest.mark.parametrize("refused", OTHERS.values(), ids=OTHERS)
def test_a_session_begins_where_the_server_knows_nothing_else(refused: httpx.Response) -> None:
    """The revision without a handshake comes first, and any error but its own is one of another revision."""
    client, heard = server(lambda message: refused if message["method"] == "server/discover" else of_sessions(message))

    client.connect()

    assert (REVISION, {"tools": {}}) == (client.revision, client.capabilities)
    assert ["server/discover", "initialize", "notifications/initialized"] == [one["method"] for one in heard]


@pytest.mark.parametrize(
    ("status", "code"), [(400, -32099), (400, -32020), (404, -32601)], ids=["lowest", "highest", "unknown-method"]
)
def test_an_error_of_the_revision_without_a_handshake_is_told(status: int, code: int) -> None:
    """No session is tried after it."""
    client, heard = server(lambda _: refusal(status, code))

    with pytest.raises(McpFailed, match=rf"^server town answers with error {code}: no$"):
        client.connect()

    assert 1 == len(heard)


def test_an_error_in_place_of_a_result_is_told() -> None:
    """With its code and message, or without them where the server says nothing."""
    client, _ = server(lambda _: httpx.Response(200, json={"id": 1, "error": {"code": -32603, "message": "no"}}))
    silent, _ = server(lambda _: httpx.Response(200, content=b"null"))

    with pytest.raises(McpFailed, match=r"^server town answers tools/call with error -32603: no$"):
        client.call("tides", {})
    with pytest.raises(McpFailed, match=r"^server town answers tools/call with error None: None$"):
        silent.call("tides", {})


def test_a_call_of_a_lost_session_is_made_again() -> None:
    """In the session that has begun in its place: its result is that of the call."""
    lost = [httpx.Response(404)]

    def answers(message: Json) -> httpx.Response | Json:
        if message["method"] != "tools/call":
            return of_sessions(message)
        return lost.pop() if lost else {"content": [TEXT]}

    client, _ = server(answers)
    client.session = "dead"

    assert {"content": [TEXT]} == client.call("tides", {})


def at_once(*results: Json) -> tuple[McpClient, list[Json]]:
    """A client of a server without a handshake that answers calls with these, of which the last is repeated."""
    left = list(results)
    client, heard = server(lambda _: left.pop(0) if len(left) > 1 else left[0])
    client.revision = STATELESS
    return client, heard


def test_an_interim_result_is_answered_with_its_state() -> None:
    """Each time with the state that came last, and with the arguments of the call."""
    asks = [{"resultType": "input_required", "requestState": state} for state in ("one", "two")]
    client, heard = at_once(*asks, {"resultType": "complete", "content": [TEXT]})

    found = client.call("tides", {"place": "harbour"})

    assert [TEXT] == found["content"]
    assert [None, "one", "two"] == [one["params"].get("requestState") for one in heard]
    assert [{"place": "harbour"}] * 3 == [one["params"]["arguments"] for one in heard]


def test_a_call_is_not_made_again_for_ever() -> None:
    """After so many interim results it has failed."""
    client, heard = at_once({"resultType": "input_required", "requestState": "same"})

    with pytest.raises(McpFailed, match=r"asks for more after 10 calls$"):
        client.call("tides", {})

    assert 10 == len(heard)


@pytest.mark.parametrize(
    "result",
    [{"resultType": "input_required", "inputRequests": {"a": {}}, "requestState": "x"}, {"resultType": "task"}],
    ids=["input-of-the-client", "unknown"],
)
def test_what_the_client_does_not_support_has_failed(result: Json) -> None:
    """Input that the client would have to give, and results of a type that it does not know."""
    client, heard = at_once(result)

    with pytest.raises(McpFailed, match=r"answers with (input_required|task), which this client does not support$"):
        client.call("tides", {})

    assert 1 == len(heard)


def test_what_the_server_asks_for_in_vain_is_refused() -> None:
    """A request that the client does not know has JSON-RPC's own error."""
    asked = {"jsonrpc": "2.0", "id": "s1", "method": "roots/list"}
    said = {"jsonrpc": "2.0", "id": 1, "result": {"content": [TEXT]}}
    stream = (b"data: " + json.dumps(one).encode() + b"\n\n" for one in (asked, said))
    reply = httpx.Response(200, content=stream, headers={"content-type": "text/event-stream"})
    client, heard = server(lambda message: reply if "method" in message else httpx.Response(202))

    client.call("tides", {})

    assert ("s1", -32601) == (heard[-1]["id"], heard[-1]["error"]["code"])


def test_only_what_would_not_arrive_is_coded() -> None:
    """As it is, where a header can have it; what looks coded is coded again."""
    assert ["a b!", "=?base64?x", "x?="] == [coded(text) for text in ("a b!", "=?base64?x", "x?=")]
    assert "=?base64?PT9iYXNlNjQ/eD89?=" == coded("=?base64?x?=")
