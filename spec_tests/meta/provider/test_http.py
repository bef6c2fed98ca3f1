"""The provider's HTTP: requests may arrive byte by byte, and invalid HTTP is refused."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptck.provider.gate import Gate
from looptck.provider.http import AT_ONCE, LAST_CHUNK, HttpReply, chunked, head
from looptck.provider.http_reader import MAX_BODY, MAX_HEAD
from meta.provider.http_client import OK, Client, at

MEASURED = b"POST /c1/v1 HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n" + b'{"a": "\xc3\xbc"}'
CHUNKED_HEAD = b"POST /c1/v1 HTTP/1.1\r\ntransfer-encoding: Chunked\r\n\r\n"
CHUNKED = CHUNKED_HEAD + b'4\r\n{"a"\r\n6;ext="1"\r\n: "\xc3\xbc"\r\n1\r\n}\r\n0\r\nx-sum: 1\r\n\r\n'
BODY = '{"a": "ü"}'.encode()
"""The body of both requests."""


@pytest.mark.parametrize("request_bytes", [MEASURED, CHUNKED], ids=["measured", "chunked"])
def test_a_request_may_be_cut_anywhere(request_bytes: bytes) -> None:
    """A request is the same wherever it is split, even into single bytes."""
    ways = [[request_bytes[:cut], request_bytes[cut:]] for cut in range(len(request_bytes))]
    ways.append([bytes([byte]) for byte in request_bytes])
    for pieces in ways:
        client = Client().send(pieces)

        assert [("POST", "/c1/v1", BODY)] == [(one.method, one.path, one.body) for one in client.seen]
        assert (OK, False) == (client.wire.written, client.wire.closed)


def test_header_names_have_no_case() -> None:
    """Header names are lowercased, and values are stripped of white space."""
    client = Client().send([b"GET / HTTP/1.1\r\nX-ABC:  D e \r\n\r\n"])

    assert {"x-abc": "D e"} == client.seen[0].headers


def test_lines_of_one_name_are_one_header() -> None:
    """They are joined in their order (RFC 9110, 5.3): clients may ask for two betas in two lines."""
    client = Client().send([b"GET / HTTP/1.1\r\nX-A: 1\r\nX-B: 2\r\nx-a: 3\r\n\r\n"])

    assert {"x-a": "1, 3", "x-b": "2"} == client.seen[0].headers


def test_requests_may_be_pipelined() -> None:
    """Two requests in one piece, and half of a third, are answered in order; the third when it is complete."""
    data = MEASURED + b"GET /c2/v1/models HTTP/1.1\r\n\r\n" + CHUNKED
    client = Client().send([data[:-20]])

    assert ["/c1/v1", "/c2/v1/models"] == [request.path for request in client.seen]
    assert OK * 2 == client.wire.written

    client.send([data[-20:]])

    assert 3 == len(client.seen)
    assert BODY == client.seen[2].body


def test_a_pipelined_request_waits_for_the_reply_before_it() -> None:
    """While a reply of several parts is being sent, the next request is not read."""

    async def story() -> tuple[list[int], bytes]:
        gate = Gate("asked to")
        client = Client(HttpReply([b"one ", gate, b"two "]), loop=asyncio.get_running_loop())
        client.send([MEASURED * 2])
        counts = [len(client.seen)]
        for _ in range(5):
            await asyncio.sleep(0)
        counts.append(len(client.seen))
        gate.open()
        for _ in range(50):
            await asyncio.sleep(0)
        return counts, client.wire.written

    assert ([1, 1], b"one two " + OK) == asyncio.run(story())


def test_a_client_may_ask_before_it_sends() -> None:
    """A client that expects 100 gets it after its head, and then the reply after its body."""
    head, body = MEASURED.replace(b"Host: x", b"Expect: 100-Continue").split(b"\r\n\r\n")
    client = Client().send([head + b"\r\n\r\n"])

    assert b"HTTP/1.1 100 Continue\r\n\r\n" == client.wire.written

    client.send([body[:3], body[3:]])

    assert b"HTTP/1.1 100 Continue\r\n\r\n" + OK == client.wire.written


def test_a_client_that_does_not_wait_gets_no_100() -> None:
    """A client that sends its body together with its head gets only the reply."""
    client = Client().send([MEASURED.replace(b"Host: x", b"Expect: 100-continue")])

    assert OK == client.wire.written


def test_a_client_that_would_rather_speak_http_2_is_answered() -> None:
    """A client that offers to upgrade, as Java's does with each request, gets its reply in HTTP/1.1."""
    offer = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABk"
    client = Client().send([MEASURED.replace(b"Host: x", b"Host: x\r\n" + offer)])

    assert OK == client.wire.written


def test_a_client_gets_100_once() -> None:
    """100 is sent once, even if all arrived pieces of the body have been consumed."""
    head, body = CHUNKED.replace(b"\r\n\r\n", b"\r\nexpect: 100-continue\r\n\r\n", 1).split(b"\r\n\r\n", 1)
    client = Client().send([head + b"\r\n\r\n", *body.splitlines(keepends=True)])

    assert b"HTTP/1.1 100 Continue\r\n\r\n" + OK == client.wire.written


@pytest.mark.parametrize("lines", [b"content-length: 11, 11", b"content-length: 11\r\nContent-Length: 011"])
def test_an_equal_length_may_be_repeated(lines: bytes) -> None:
    """A repeated content-length is valid if its values are equal (RFC 9110, 8.6)."""
    client = Client().send([MEASURED.replace(b"Content-Length: 11", lines)])

    assert [BODY] == [request.body for request in client.seen]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"hello\r\n\r\n", "is not an HTTP/1.1 request line"),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "is not an HTTP/1.1 request line"),
        (b"GET /a b HTTP/1.1\r\n\r\n", "is not an HTTP/1.1 request line"),
        (b"POST / HTTP/1.1\r\ncontent-length: many\r\n\r\n", "content-length 'many' is not a number"),
        (b"POST / HTTP/1.1\r\ncontent-length: -1\r\n\r\n", "content-length '-1' is not a number"),
        (b"POST / HTTP/1.1\r\ncontent-length: 16777217\r\n\r\n", "is not a number up to 16777216"),
        (b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", "is not a chunk size"),
        (b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n-6\r\nabcdef\r\n", "is not a chunk size"),
        (b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n\r\n", "is not a chunk size"),
        (b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1000001\r\n", "a body of more than 16777216 bytes"),
        (b"POST / HTTP/1.1\r\ncontent-length: \xb2\r\n\r\n", "is not a number up to 16777216"),
        (b"POST / HTTP/1.1\r\ncontent-length: " + b"9" * 5000 + b"\r\n\r\n", "is not a number up to 16777216"),
        (
            b"POST / HTTP/1.1\r\ncontent-length: 1, 2\r\n\r\nab",
            "content-length is given more than once with different values",
        ),
        (b"POST / HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab", "with different values: '1, 2'"),
        (b"GET /" + b"a" * (MAX_HEAD + 1), "a request head of more than 65536 bytes"),
        (b"\x16\x03\x01\x02\x00\x01\x00", "the client speaks TLS"),
        (b"POST / HTTP/1.1\nHost: x\nContent-Length: 2\n\n{}", "the lines of the head end with LF alone"),
        (b"POST / HTTP/1.1\r\nHost : x\r\n\r\n", "'Host : x' is no header field"),
        (b"POST / HTTP/1.1\r\nX: a\r\n b\r\n\r\n", "' b' is no header field"),
        (b"POST / HTTP/1.1\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n", "the transfer-encoding 'gzip, chunked'"),
        (CHUNKED_HEAD + b"2\r\n{}XX", "a chunk of 2 bytes has no line end behind it"),
        (CHUNKED_HEAD + b"1;" + b"a" * MAX_HEAD, "a line before a chunk of more than 65536 bytes"),
        (CHUNKED_HEAD + b"0\r\n" + b"a" * (MAX_HEAD + 1), "a trailer field of more than 65536 bytes"),
    ],
)
def test_an_invalid_request_is_refused(data: bytes, why: str) -> None:
    """Requests that are not HTTP/1.1 or too large get 400 with the reason, and the connection is closed."""
    client = Client().send([data])

    assert [] == client.seen
    assert client.wire.written.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert why in client.wire.written.decode()
    assert client.wire.closed or (client.wire.said_all and client.refused)

    for one in client.turns.later:
        one()

    assert client.wire.closed


def test_a_refused_body_is_read_to_its_end() -> None:
    """A client that is still sending gets to read why: its bytes are taken and dropped, and the run hears of it."""
    client = Client().send([b"POST /c1/v1/x HTTP/1.1\r\ncontent-length: 99999999\r\n\r\n", b"x" * 1000, MEASURED])

    assert ([], False) == (client.seen, client.wire.closed)
    assert ["/c1/v1/x"] == [one.path for one in client.refused]
    assert 0 == client.connection._reader.size


def test_a_flood_of_requests_leaves_others_their_turn() -> None:
    """Requests of one connection are answered some at a time, and no more are read than one body has bytes."""
    client = Client(*[HttpReply([OK])] * 200).send([MEASURED * 120])

    assert AT_ONCE == len(client.seen)
    client.turns.turn()
    assert 2 * AT_ONCE == len(client.seen)

    client.connection.pause_writing()
    client.turns.turn()
    for _ in range((MAX_BODY + MAX_HEAD) // (1 << 20) + 2):
        client.send([b"x" * (1 << 20)])

    assert 2 * AT_ONCE == len(client.seen)
    assert not client.wire.reads
    client.connection.resume_writing()
    client.turns.turn()
    assert 120 == len(client.seen)


@pytest.mark.parametrize("before", [b"\r\n", b"\r\n\r\n"])
def test_empty_lines_before_a_request_are_skipped(before: bytes) -> None:
    """Old clients send a line end behind a body (RFC 9112, 2.2)."""
    client = Client().send([MEASURED + before, before + MEASURED])

    assert [BODY, BODY] == [request.body for request in client.seen]


def test_no_reply_is_a_closed_connection() -> None:
    """A handler without a reply closes the connection without sending anything."""
    client = Client(None).send([MEASURED])

    assert (b"", True) == (client.wire.written, client.wire.closed)


def test_a_reply_may_break_off() -> None:
    """After a reply that must break off, the connection is closed."""
    client = Client(HttpReply([b"half"], then_close=True)).send([MEASURED])

    assert (b"half", True) == (client.wire.written, client.wire.closed)


def test_a_client_that_leaves_ends_its_reply() -> None:
    """If the client disconnects while a reply is held, the rest is neither written nor recorded as sent."""

    async def story() -> tuple[bytes, list[str]]:
        noted: list[str] = []
        gate = Gate("never")
        reply = HttpReply([b"one ", gate, b"two"], sent=lambda: noted.append("sent"))
        client = Client(reply, loop=asyncio.get_running_loop()).send([MEASURED])
        await asyncio.sleep(0)
        client.connection.connection_lost(None)
        gate.open()
        for _ in range(5):
            await asyncio.sleep(0)
        return client.wire.written, noted

    assert (b"one ", []) == asyncio.run(story())


def test_a_reply_is_sent_before_its_last_part() -> None:
    """A reply is recorded as sent before its last part is written, so that the client's next action comes later."""
    noted: list[bytes] = []
    reply = HttpReply([b"all"])
    client = Client(reply)
    reply.sent = lambda: noted.append(client.wire.written)
    client.send([MEASURED])

    assert [b""] == noted
    assert b"all" == client.wire.written


@pytest.mark.parametrize("parts", [[b"all"], [b"one ", b"two"]])
def test_an_error_of_looptck_while_it_answers_is_told(parts: list[bytes | Gate]) -> None:
    """The connection is broken, so that the client does not wait for a service that says nothing."""

    async def story() -> tuple[list[str], bool]:
        told: list[str] = []
        reply = HttpReply(parts, sent=lambda: 1 / 0, failed=lambda error: told.append(type(error).__name__))  # type: ignore[arg-type]
        client = Client(reply, loop=asyncio.get_running_loop()).send([MEASURED])
        for _ in range(5):
            await asyncio.sleep(0)
        return told, client.wire.closed

    assert (["ZeroDivisionError"], True) == asyncio.run(story())


@pytest.mark.parametrize(("piece", "chunk"), [(b"abc", b"3\r\nabc\r\n"), (b"x" * 17, b"11\r\n" + b"x" * 17 + b"\r\n")])
def test_chunks_say_their_size(piece: bytes, chunk: bytes) -> None:
    """A chunk begins with its size as a hexadecimal number."""
    assert chunk == chunked(piece)


@pytest.mark.parametrize(
    ("status", "line"),
    [
        (503, b"HTTP/1.1 503 Service Unavailable"),
        (415, b"HTTP/1.1 415 Unsupported Media Type"),
        (529, b"HTTP/1.1 529 Status"),
    ],
)
def test_a_status_has_its_name(status: int, line: bytes) -> None:
    """Clients quote the status line, so it says what servers say, where the status has a name."""
    assert line == head(status, [], length=0).partition(b"\r\n")[0]


def test_no_bytes_are_no_chunk() -> None:
    """No empty chunk is sent, because it would end the body."""
    assert b"" == chunked(b"")


BODIES = st.binary(max_size=40)


@given(
    st.lists(st.tuples(BODIES, st.none() | st.lists(st.integers(0, 40), max_size=3)), min_size=1, max_size=4),
    st.lists(st.integers(0, 600), max_size=8),
)
def test_any_requests_in_any_pieces(requests: list[tuple[bytes, list[int] | None]], cuts: list[int]) -> None:
    """Any bodies, with a length or chunked, in a stream that is split anywhere, arrive completely and in order."""
    stream = b""
    for body, borders in requests:
        if borders is None:
            stream += b"POST / HTTP/1.1\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
        else:
            chunks = b"".join(chunked(piece) for piece in at(body, *(min(cut, len(body)) for cut in borders)))
            stream += b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n" + chunks + LAST_CHUNK
    client = Client().send(at(stream, *(min(cut, len(stream)) for cut in cuts)))

    assert [body for body, _ in requests] == [request.body for request in client.seen]
    assert OK * len(requests) == client.wire.written
