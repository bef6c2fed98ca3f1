"""Clients that speak HTTP otherwise: 1.0, connections that close, HEAD, whole URLs; and bodies that are too much."""

from __future__ import annotations

import gzip
import json
import socket
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from looptck.provider import model_run as module
from looptck.provider.gate import Gate
from looptck.provider.http import LAST_CHUNK, chunked
from looptck.provider.http_fit import Fitted
from looptck.provider.http_reader import MAX_BODY, MAX_HEAD, HttpRequest, RequestReader
from looptck.provider.mock_run import MockRun
from looptck.provider.script import Hold, Script, Step
from looptck.provider.server import HOST, Provider
from looptck.provider.toolbox import Toolbox
from looptck.values.transcript import TOO_MUCH, Received, UnroutedRequest
from looptck.values.turns import says
from looptck.wires.openai_chat import OPENAI_CHAT
from meta.provider.mock_runs import noted, parsed_reply, reply

ASKS = {"model": "m", "messages": [{"role": "user", "content": "Go."}]}
ENOUGH = 20.0


def played(*steps: Step) -> MockRun:
    """A run that answers with these steps, or with a greeting."""
    return MockRun(OPENAI_CHAT, Script(steps or (Step(says("Hello.")),)), Toolbox({}), patience=ENOUGH)


@pytest.fixture
def server() -> Iterator[Provider]:
    """A provider that serves."""
    with Provider() as provider:
        yield provider


def read_to_the_end(server: Provider, mock_run: MockRun, line: str, *fields: str, body: Any = ASKS) -> bytes:
    """All that a server sends until it closes the connection; a client that reads to the end waits for that."""
    path = server.open(mock_run).removeprefix(server.origin) + "/v1/chat/completions"
    text = json.dumps(body).encode() if line.startswith("POST") else b""
    head = "\r\n".join([line.format(server.origin, path), *fields, f"content-length: {len(text)}", "", ""])
    with socket.create_connection((HOST, int(server.origin.rpartition(":")[2])), timeout=ENOUGH) as connection:
        connection.sendall(head.encode() + text)
        found = b""
        while piece := connection.recv(1 << 16):
            found += piece
    return found


LAST = [
    ("POST {1} HTTP/1.1", "Connection: close"),
    ("POST {1} HTTP/1.0", "Host: x"),
    ("POST {1} HTTP/1.1", "connection: TE, Close"),
]


@pytest.mark.parametrize(("line", "field"), LAST)
@pytest.mark.parametrize("held", [False, True], ids=["whole", "held"])
def test_a_client_that_reads_to_the_end_comes_to_it(line: str, field: str, held: bool, server: Provider) -> None:
    """The connection is closed behind the reply, which says so."""
    gate = Gate("open")
    gate.open()
    step = Step(says("Hello."), before=gate if held else None)

    head, _, body = read_to_the_end(server, played(step), line, field).partition(b"\r\n\r\n")

    assert "Hello." == json.loads(body)["choices"][0]["message"]["content"]
    assert b"\r\nconnection: close" in head


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_a_stream_is_chunked_where_chunks_are_known(version: str, server: Provider) -> None:
    """HTTP/1.0 has no chunks: the same events come without, and the end of the connection is the end of the stream."""
    gate = Gate("open")
    gate.open()
    step = Step(says("Hello."), holds=(Hold(gate, 1),))
    asks = {**ASKS, "stream": True}

    found = read_to_the_end(server, played(step), "POST {1} HTTP/" + version, "Connection: close", body=asks)

    head, _, body = found.partition(b"\r\n\r\n")
    assert (version == "1.1") is (b"transfer-encoding: chunked" in head)
    assert (version == "1.0") is (body.startswith(b"data: ") and body.endswith(b"data: [DONE]\n\n"))
    assert (version == "1.1") is body.endswith(LAST_CHUNK)


def test_a_kept_connection_of_http_1_0_gets_no_chunks(server: Provider) -> None:
    """A stream ends with the connection there, though the client asked to keep it (RFC 9112, 6.1 and 6.3)."""
    asks = {**ASKS, "stream": True}

    found = read_to_the_end(server, played(), "POST {1} HTTP/1.0", "Connection: keep-alive", body=asks)

    head, _, body = found.partition(b"\r\n\r\n")
    assert b"transfer-encoding" not in head
    assert b"\r\nconnection: close" in head
    assert body.startswith(b"data: ")
    assert body.endswith(b"data: [DONE]\n\n")


def test_kept_connections_stay_open_in_http_1_0() -> None:
    """A client of HTTP/1.0 may ask for that (RFC 9112, appendix C.2.2)."""
    assert not HttpRequest("POST", "/", {"connection": "Keep-Alive"}, b"", "HTTP/1.0").is_last
    assert HttpRequest("POST", "/", {}, b"", "HTTP/1.0").is_last
    assert not HttpRequest("POST", "/", {}, b"").is_last


def test_head_has_no_body(server: Provider) -> None:
    """The head of the reply to HEAD says how long the body would be, and none follows."""
    head, _, body = read_to_the_end(server, played(), "HEAD {1} HTTP/1.1").partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 404 ")
    assert b"content-length: " in head
    assert b"" == body


@pytest.mark.parametrize("target", ["{0}{1}", "HTTP://elsewhere{1}"])
def test_a_whole_url_is_a_path(target: str, server: Provider) -> None:
    """A client that takes the server for a proxy sends the URL as it is."""
    found = read_to_the_end(server, played(), f"POST {target} HTTP/1.1", "Connection: close")

    assert found.startswith(b"HTTP/1.1 200 ")


HEAD_OF_CHUNKS = b"HTTP/1.1 200 OK\r\ncontent-type: x\r\ntransfer-encoding: chunked\r\n\r\n"
PIECES = [b"a", b"", b"0\r\n\r\n", b"\r\n", b"\x00" * 300]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_chunks_come_apart_wherever_they_are_cut(size: int) -> None:
    """The content is the same in whatever pieces the reply is sent."""
    whole = HEAD_OF_CHUNKS + b"".join(map(chunked, PIECES)) + LAST_CHUNK
    fit = Fitted(HttpRequest("POST", "/", {}, b"", "HTTP/1.0"))

    sent = b"".join(fit(whole[at : at + size]) for at in range(0, len(whole), size))

    assert b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: x\r\n\r\n" + b"".join(PIECES) == sent


# -- bounds -----------------------------------------------------------------------------------------------------------

CHUNKS = b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n"
LONG = b"x" * 1000


@pytest.mark.parametrize(
    ("line", "told"),
    [(b"1;" + LONG + b"\r\na\r\n", "chunk extensions of more than"), (b"0\r\n" + LONG + b"\r\n", "trailer fields of")],
)
def test_what_stands_beside_the_content_has_an_end(line: bytes, told: str) -> None:
    """Extensions and trailers are bounded together, however short each is."""
    reader = RequestReader()
    reader.feed(CHUNKS + (line if line.startswith(b"1") else b"0\r\n"))
    rest = line if line.startswith(b"1") else LONG + b"\r\n"

    def read() -> None:
        for _ in range(MAX_HEAD // len(LONG) + 2):
            reader.feed(rest)
            reader.next()

    with pytest.raises(ValueError, match=told):
        read()


def test_a_body_has_an_end() -> None:
    """A body is refused by its declared size, before it is read."""
    reader = RequestReader()
    reader.feed(b"POST / HTTP/1.1\r\ncontent-length: %d\r\n\r\n" % (MAX_BODY + 1))

    with pytest.raises(ValueError, match="is not a number up to"):
        reader.next()


def test_the_bodies_of_a_run_have_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a run sends is bounded in all; beyond that it is answered 413, noted, and neither parsed nor kept."""
    monkeypatch.setattr(module, "MOST_BYTES", 100)
    run = played(Step(says("One.")), Step(says("Two.")))

    statuses = [parsed_reply(reply(run, ASKS, "/v1/chat/completions"))[0] for _ in range(2)]

    assert [200, 413] == statuses
    assert 1 == len(noted(run, Received))
    assert ["the requests of one run have more than 100 bytes"] == [one.why for one in noted(run, UnroutedRequest)]


def test_the_requests_outside_the_script_have_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run has ended for good after so many of them, which is told as that of the kit."""
    monkeypatch.setattr(MockRun, "_most_side_requests", 1)
    run = played()

    replies = [run.answer(HttpRequest("GET", "/v1/models", {}, b"")) for _ in range(2)]

    assert [True, False] == [one is not None for one in replies]
    assert [f"{TOO_MUCH} 1 outside the script"] == [one.why for one in noted(run, UnroutedRequest)]


@pytest.mark.parametrize("value", [[[]] * 1000, [{}] * 1000, list(range(1000))])
def test_the_values_of_a_body_have_an_end(value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A body that is short and would fill the memory is answered 413 before it is parsed."""
    monkeypatch.setattr(module, "MOST_VALUES", 900)

    run = played()

    assert 413 == parsed_reply(reply(run, {**ASKS, "metadata": value}, "/v1/chat/completions"))[0]
    assert [] == noted(run, Received)


# -- what is not read -------------------------------------------------------------------------------------------------


def test_a_compressed_body_is_named() -> None:
    """No service reads one: the reason is the encoding, and not that the bytes are no JSON."""
    run = played()
    body = gzip.compress(json.dumps(ASKS).encode())

    answer = run.answer(HttpRequest("POST", "/v1/chat/completions", {"content-encoding": "gzip"}, body))

    assert answer is not None
    assert 415 == parsed_reply(answer)[0]
    why = "the body has the content-encoding gzip, and looptck reads none; send it uncompressed"
    assert [f"POST /v1/chat/completions: {why}"] == [one.told for one in noted(run, UnroutedRequest)]


@pytest.mark.parametrize(
    ("body", "type", "named"),
    [*product([b"model=m"], ["application/x-www-form-urlencoded"], [True]), (b"model=m", "application/json", False)],
)
def test_a_foreign_content_type_is_named(body: bytes, type: str, named: bool) -> None:
    """A body that is no JSON, and says so, is refused with the type in the message."""
    run = played()

    run.answer(HttpRequest("POST", "/v1/chat/completions", {"content-type": type}, body))

    [problem] = noted(run, Received)[0].problems
    assert "body-is-an-object" == problem.rule
    assert named is problem.message.endswith(f" Its content-type is {type}.")
