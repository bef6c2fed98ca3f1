"""The tape: bytes, borders and breaks of whatever an upstream sends, and the client is given the same."""

from __future__ import annotations

import gzip
from itertools import pairwise

import httpx
import pytest

from looptck.provider.http import HttpReply, chunked, head
from looptck.recording.tape import Exchange, NotTheSame, Tape, _compare, _Kept, tape
from meta.recording.far_end import EVENTS, FarEnd, hangs, stream, whole

SUN = 'data: {"text":"\U0001f31e"}\n\n'.encode()
HALF = SUN.index(b"\x9e") - 1
"""A place inside the character."""


def asked(taped: Tape, got: list[bytes] | None = None) -> Exchange:
    """The one exchange of a client that asks once, and reads to the end; its bytes go to ``got``."""

    def ask() -> None:
        with httpx.Client(trust_env=False) as client:
            reply = client.post(f"{taped.base_url}/chat/completions", json={"stream": True})
            if got is not None:
                got.append(reply.content)

    (exchange,), _ = taped.record(ask)
    return exchange


def chunks(exchange: Exchange) -> list[bytes]:
    """The body of a reply in its chunks."""
    return [exchange.body[start:end] for start, end in pairwise((0, *exchange.chunks.ends))]


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param([b"data: 1\n\n", b"data: 2\n\n", b"data: [DONE]\n\n"], id="an event each"),
        pytest.param([b"data: 1\n\ndata:", b" 2\n", b"\n"], id="inside of events"),
        pytest.param([SUN[:HALF], SUN[HALF:]], id="inside of a character"),
        pytest.param([b"data: 1\r\n\r\n", b"data: 2\r", b"\n\r\n"], id="CRLF"),
        pytest.param([b"\xef\xbb\xbfdata: 1\r", b"\r: \xff\xfe\r\r"], id="CR, a mark and no UTF-8"),
    ],
)
def test_borders(far_end: FarEnd, taped: Tape, sent: list[bytes]) -> None:
    """Chunks have the borders that the upstream gave them, and the bytes are the upstream's."""
    far_end.replies(stream(*sent))
    got: list[bytes] = []

    exchange = asked(taped, got)

    assert sent == chunks(exchange)
    assert [b"".join(sent)] == got
    assert len(sent) == len(exchange.chunks.times)
    assert sorted(exchange.chunks.times) == list(exchange.chunks.times)


def test_chunks_in_one_write(far_end: FarEnd, taped: Tape) -> None:
    """Chunks that come in one segment of the network are still told apart."""
    sent = [b"data: 1\n\n", b"data: 2\n\n"]
    far_end.replies(HttpReply([head(200, EVENTS, length=None) + b"".join(map(chunked, sent)) + b"0\r\n\r\n"]))

    assert sent == chunks(asked(taped))


def test_compressed(far_end: FarEnd, taped: Tape) -> None:
    """A compressed reply is noted and passed on as what it says."""
    far_end.replies(whole(200, gzip.compress(SUN), [*EVENTS, ("content-encoding", "gzip")]))
    got: list[bytes] = []

    exchange = asked(taped, got)

    assert (SUN, [SUN]) == (exchange.body, got)


def test_wrongly_compressed(far_end: FarEnd, taped: Tape) -> None:
    """What says that it is compressed and is not is trouble, not a reply."""
    far_end.replies(whole(200, SUN, [*EVENTS, ("content-encoding", "gzip")]))

    assert "incorrect header" in asked(taped).trouble


def test_break(far_end: FarEnd, taped: Tape) -> None:
    """What came before a break is kept, and the client sees the break."""
    far_end.replies(stream(SUN, b"data: 2", breaks=True))
    raised: list[Exception | None] = []

    exchanges, error = taped.record(lambda: httpx.post(f"{taped.base_url}/messages", json={}, trust_env=False).close())
    raised.append(error)

    assert [SUN, b"data: 2"] == chunks(exchanges[0])
    assert exchanges[0].broken
    assert isinstance(raised[0], httpx.RemoteProtocolError)


def test_no_reply(far_end: FarEnd, taped: Tape) -> None:
    """An upstream that hangs up at once is told of as that."""
    far_end.replies(None)

    assert asked(taped).trouble.startswith("never came: RemoteProtocolError")


@pytest.mark.parametrize(
    "first", [(), (head(200, EVENTS, length=None) + chunked(SUN),)], ids=["at once", "in a stream"]
)
def test_hang(far_end: FarEnd, first: tuple[bytes, ...]) -> None:
    """An upstream that never ends is given up after a time."""
    far_end.replies(hangs(*first))

    with tape(far_end.base_url, 0.2) as taped:
        exchanges, _ = taped.record(lambda: httpx.post(f"{taped.base_url}/x", json={}, trust_env=False).close())

    assert "was not over after 0.2 s" == exchanges[0].trouble


def test_upstreams_own_path_and_query(far_end: FarEnd) -> None:
    """``/v1`` stands for the base URL with all that is in it, and the tape shows none of it."""
    far_end.replies(whole(200, b"{}"))

    with tape(f"{far_end.base_url}/accounts/7?version=2", 20) as taped:
        exchange = asked(taped)

    assert ["/v1/accounts/7/chat/completions?version=2"] == [request.path for request in far_end.seen]
    assert "/v1/chat/completions" == exchange.path


def test_two_opinions(far_end: FarEnd, taped: Tape) -> None:
    """Where vcrpy and the proxy disagree, neither is believed."""
    far_end.replies(stream(SUN))
    exchange = asked(taped)

    with pytest.raises(NotTheSame, match="vcrpy has 0 exchanges and the proxy saw 1"):
        _compare(_Kept(), [exchange])
