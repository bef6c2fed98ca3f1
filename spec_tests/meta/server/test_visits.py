"""Clients of servers: what they send, what they make of what comes, and when they go away."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import httpx
import pytest

from looptck.bench.client import Ask, Reply
from looptck.bench.client import visit as room
from looptck.bench.client.visit import Visits
from looptck.spec.server_loop.replies import json_of
from looptck.values.outcome import UNSTREAMED, Failed, Outcome, Value
from looptck.values.transcript import ServerEvent, Transcript
from meta.server.tiny import EVENTS, JSON, Handler, Tiny

TURN = {"choices": [{"message": {"role": "assistant", "content": "Done."}, "finish_reason": "stop"}]}
CHUNK = {"choices": [{"delta": {"content": "Done."}, "finish_reason": "stop"}]}
STREAM = f": begun\n\ndata: {json.dumps(CHUNK)}\n\ndata: [DONE]\n\n".encode()


class Says(Handler):
    """Answers whatever it was told."""

    type: ClassVar[str] = JSON
    pieces: ClassVar[Iterable[bytes]] = ()
    length: ClassVar[int | None] = None
    got: ClassVar[list[tuple[str, Any, Any]]] = []

    def do_POST(self) -> None:  # noqa: N802  the name that the class wants
        """Keep what was sent, and answer."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.got.append((self.path, dict(self.headers.items()), body))
        self.reply(self.type, self.pieces, self.length)


@pytest.fixture(name="server")
def _server() -> Iterator[Tiny]:
    server = Tiny(Says, "", "")
    Says.got.clear()
    yield server
    server.shutdown()
    server.server_close()


def visited(
    server: Tiny,
    monkeypatch: pytest.MonkeyPatch,
    type: str,
    *pieces: bytes,
    cut: int = 0,
    asks: bool = False,
    **how: Any,
) -> tuple[Reply, Outcome, Transcript]:
    """What a client makes of a reply of these pieces, the last bytes of which never come."""
    whole = b"".join(pieces)
    monkeypatch.setattr(Says, "type", type)
    monkeypatch.setattr(Says, "pieces", [whole[: len(whole) - cut]] if cut else pieces)
    monkeypatch.setattr(Says, "length", len(whole))
    transcript = Transcript()
    ask = Ask(question="Go.", **how)
    reply, future = Visits(10.0).begin(server.url, ask, "openai-chat", transcript, stream=asks or type == EVENTS)
    return reply, future.result(10.0), transcript


def test_a_plain_reply(server: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plain reply is one value, and no event."""
    reply, outcome, transcript = visited(server, monkeypatch, JSON, json.dumps(TURN).encode())

    assert (Value("Done."), 200, "application/json") == (outcome, reply.status, reply.headers["content-type"])
    assert [] == transcript.events


def test_a_stream(server: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    """The events of a stream are in the reply and in the transcript as they come; its comments are counted."""
    reply, outcome, transcript = visited(server, monkeypatch, EVENTS, STREAM[:30], STREAM[30:])

    assert Value("Done.") == outcome
    assert [("", CHUNK), ("", "[DONE]")] == [(one.name, one.value) for one in reply.events]
    assert reply.events == transcript.events
    assert (1, True, STREAM) == (reply.comments, reply.ended, reply.raw)


def test_what_is_sent(server: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    """The body goes to the wire's path as JSON, with a key as each wire has it."""
    visited(server, monkeypatch, JSON, json.dumps(TURN).encode())

    ((path, headers, body),) = Says.got
    told = {name.lower(): value for name, value in headers.items()}
    assert ("/v1/chat/completions", Ask(question="Go.").body("openai-chat", stream=False)) == (path, body)
    assert (JSON, f"Bearer {room.KEY}", room.KEY) == (told["content-type"], told["authorization"], told["x-api-key"])


@pytest.mark.parametrize("cut", [1, 2, 5, 16, len(STREAM) - 1])
def test_a_cut_stream_is_broken(server: Tiny, monkeypatch: pytest.MonkeyPatch, cut: int) -> None:
    """A stream that is cut anywhere has not ended, and its run has failed for that."""
    reply, outcome, _ = visited(server, monkeypatch, EVENTS, STREAM, cut=cut)

    assert isinstance(outcome, Failed)
    assert ("provider", "BrokenReply") == (outcome.reason, outcome.type)
    assert "RemoteProtocolError" in reply.broken
    assert not reply.ended


def test_a_stream_that_ends_in_an_event_is_broken(server: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream whose last event has no empty line behind it was cut, whatever its length says."""
    reply, outcome, _ = visited(server, monkeypatch, EVENTS, STREAM.rstrip())

    assert isinstance(outcome, Failed)
    assert "its last event is cut: 'data: [DONE]'" == reply.broken


def test_a_cut_plain_reply_is_broken(server: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plain reply of which bytes are missing is no reply."""
    reply, outcome, _ = visited(server, monkeypatch, JSON, json.dumps(TURN).encode(), cut=3)

    assert isinstance(outcome, Failed)
    assert reply.broken


def test_what_is_no_turn_has_failed(server: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reply that no turn can be read from is a failure of the server, and not of the kit."""
    _, outcome, _ = visited(server, monkeypatch, JSON, b"<html>")

    assert isinstance(outcome, Failed)
    assert ("provider", "UnreadableReply") == (outcome.reason, outcome.type)


def test_a_stream_of_another_content_type_is_none(server: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that asked for a stream reads none from a reply that is said to be something else, and says so."""
    reply, outcome, _ = visited(server, monkeypatch, JSON, STREAM, asks=True)

    assert isinstance(outcome, Failed)
    said = "the request asks for a stream, and its reply has the content type application/json"
    assert (UNSTREAMED, said) == (outcome.type, outcome.message)
    assert f"no stream, status 200: {said}" == str(reply)


@pytest.mark.parametrize("type", ["text/event-stream; charset=utf-8", "Text/Event-Stream"])
def test_a_content_type_is_read_without_parameters_and_case(
    server: Tiny, monkeypatch: pytest.MonkeyPatch, type: str
) -> None:
    """A stream is one in whatever spelling of its content type."""
    reply, outcome, _ = visited(server, monkeypatch, type, STREAM, asks=True)

    assert ("Done.", True) == (reply.text, isinstance(outcome, Value))


def test_a_reply_without_end_is_left(server: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a reply that is too large no more is read."""
    monkeypatch.setattr(room, "MOST", 10)

    reply, outcome, _ = visited(server, monkeypatch, EVENTS, STREAM)

    assert isinstance(outcome, Failed)
    assert "it is larger than 10 bytes" == reply.broken


def test_a_client_can_go_away(server: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that leaves at an event reads no further."""
    reply, outcome, _ = visited(server, monkeypatch, EVENTS, STREAM, on_event=lambda _: True)

    assert [CHUNK] == [event.value for event in reply.events]
    assert (True, "") == (reply.left, reply.broken)
    assert isinstance(outcome, Value | Failed)


def test_what_a_check_does_wrong_is_raised(server: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of a check's own, while it listens, is raised where the reply is waited for."""

    def listen(event: ServerEvent) -> None:
        raise KeyError(event.name)

    with pytest.raises(KeyError):
        visited(server, monkeypatch, EVENTS, STREAM, on_event=listen)


def test_nobody_answers(server: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no reply begins, its status is none, and what went wrong is told."""
    server.shutdown()
    server.server_close()

    reply, outcome, _ = visited(server, monkeypatch, JSON)

    assert isinstance(outcome, Failed)
    assert (0, True) == (reply.status, reply.broken.startswith("ConnectError"))


def test_other_routes(server: Tiny) -> None:
    """A plain client has the same key, and no proxy of the environment."""
    with Visits(10.0).http(server.url) as client:
        told = client.get("/v1/models").json()

    assert f"Bearer {room.KEY}" in told.values()


class HangsUp(Handler):
    """Closes the connection in place of a reply."""

    def do_POST(self) -> None:  # noqa: N802  the name that the class wants
        """Read the body, and go."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self.close_connection = True


def test_a_route_that_does_not_answer() -> None:
    """A server that closes the connection in place of a reply is at fault, and not looptck."""
    server = Tiny(HangsUp, "", "")
    try:
        with Visits(10.0).http(server.url) as client, pytest.raises(AssertionError) as failed:
            client.post("/v1/files", content=b"no form")
    finally:
        server.shutdown()
        server.server_close()

    assert "POST /v1/files got no reply: RemoteProtocolError: " in str(failed.value)


class Keeps(Handler):
    """Says from which port it is asked, and keeps the connection."""

    def do_GET(self) -> None:  # noqa: N802
        """Answer."""
        port = str(self.client_address[1]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(port)))
        self.end_headers()
        self.wfile.write(port)


def test_each_request_has_its_own_connection() -> None:
    """A connection that a server keeps, and may close at any time, is not used again."""
    server = Tiny(Keeps, "", "")
    try:
        with Visits(10.0).http(server.url) as client:
            ports = [client.get("/v1/models").text for _ in range(2)]
    finally:
        server.shutdown()
        server.server_close()

    assert 2 == len({*ports})


def test_a_route_that_answers_no_json() -> None:
    """A page in place of JSON is a fault of the server, too."""
    page = httpx.Response(200, text="<html>", request=httpx.Request("GET", "http://127.0.0.1/v1/models"))

    with pytest.raises(AssertionError, match="models was answered with no JSON: '<html>'"):
        json_of(page)
