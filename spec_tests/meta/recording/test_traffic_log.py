"""The traffic log: bytes, borders and breaks of an upstream's replies, which the client receives unchanged."""

from __future__ import annotations

import gzip
from itertools import pairwise

import httpx
import pytest

from looptck.commands.recording.traffic_log import (
    CapturesDisagree,
    LoggedExchange,
    TrafficLog,
    _compare,
    _MemoryPersister,
    traffic_log,
)
from looptck.provider.http import HttpReply, chunked, head
from meta.recording.fake_upstream import EVENTS, FakeUpstream, hangs, stream, whole

SUN = 'data: {"text":"\U0001f31e"}\n\n'.encode()
HALF = SUN.index(b"\x9e") - 1
"""A place inside the character."""


def asked(log: TrafficLog, got: list[bytes] | None = None) -> LoggedExchange:
    """The one exchange of a client that asks once, and reads to the end; its bytes go to ``got``."""

    def ask() -> None:
        with httpx.Client(trust_env=False) as client:
            reply = client.post(f"{log.base_url}/chat/completions", json={"stream": True})
            if got is not None:
                got.append(reply.content)

    (exchange,), _ = log.record(ask)
    return exchange


def chunks(exchange: LoggedExchange) -> list[bytes]:
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
def test_borders(fake_upstream: FakeUpstream, log: TrafficLog, sent: list[bytes]) -> None:
    """Chunks have the borders that the upstream gave them, and the bytes are the upstream's."""
    fake_upstream.replies(stream(*sent))
    got: list[bytes] = []

    exchange = asked(log, got)

    assert sent == chunks(exchange)
    assert [b"".join(sent)] == got
    assert len(sent) == len(exchange.chunks.times)
    assert sorted(exchange.chunks.times) == list(exchange.chunks.times)


def test_chunks_in_one_write(fake_upstream: FakeUpstream, log: TrafficLog) -> None:
    """Chunks that come in one segment of the network are still separate."""
    sent = [b"data: 1\n\n", b"data: 2\n\n"]
    fake_upstream.replies(HttpReply([head(200, EVENTS, length=None) + b"".join(map(chunked, sent)) + b"0\r\n\r\n"]))

    assert sent == chunks(asked(log))


def test_compressed(fake_upstream: FakeUpstream, log: TrafficLog) -> None:
    """A compressed reply is noted and passed on as what it says."""
    fake_upstream.replies(whole(200, gzip.compress(SUN), [*EVENTS, ("content-encoding", "gzip")]))
    got: list[bytes] = []

    exchange = asked(log, got)

    assert (SUN, [SUN]) == (exchange.body, got)


def test_wrongly_compressed(fake_upstream: FakeUpstream, log: TrafficLog) -> None:
    """What says that it is compressed and is not is trouble, not a reply."""
    fake_upstream.replies(whole(200, SUN, [*EVENTS, ("content-encoding", "gzip")]))

    assert "incorrect header" in asked(log).trouble


def test_break(fake_upstream: FakeUpstream, log: TrafficLog) -> None:
    """What came before a break is kept, and the client sees the break."""
    fake_upstream.replies(stream(SUN, b"data: 2", breaks=True))
    raised: list[Exception | None] = []

    exchanges, error = log.record(lambda: httpx.post(f"{log.base_url}/messages", json={}, trust_env=False).close())
    raised.append(error)

    assert [SUN, b"data: 2"] == chunks(exchanges[0])
    assert exchanges[0].broken
    assert isinstance(raised[0], httpx.RemoteProtocolError)


def test_no_reply(fake_upstream: FakeUpstream, log: TrafficLog) -> None:
    """An upstream that hangs up at once is reported."""
    fake_upstream.replies(None)

    assert asked(log).trouble.startswith("never came: RemoteProtocolError")


@pytest.mark.parametrize(
    "first", [(), (head(200, EVENTS, length=None) + chunked(SUN),)], ids=["at once", "in a stream"]
)
def test_hang(fake_upstream: FakeUpstream, first: tuple[bytes, ...]) -> None:
    """An upstream that never ends is given up after a time."""
    fake_upstream.replies(hangs(*first))

    with traffic_log(fake_upstream.base_url, 0.2) as log:
        exchanges, _ = log.record(lambda: httpx.post(f"{log.base_url}/x", json={}, trust_env=False).close())

    assert "was not complete after 0.2 s" == exchanges[0].trouble


def test_client_that_leaves(fake_upstream: FakeUpstream, log: TrafficLog) -> None:
    """An exchange whose client does not wait for the reply is no recording."""
    fake_upstream.replies(hangs(head(200, EVENTS, length=None) + chunked(SUN)))

    exchanges, raised = log.record(
        lambda: httpx.post(f"{log.base_url}/x", json={}, timeout=0.2, trust_env=False).close()
    )

    assert isinstance(raised, httpx.ReadTimeout)
    assert "was left by the client" == exchanges[0].trouble


def test_upstreams_own_path_and_query(fake_upstream: FakeUpstream) -> None:
    """``/v1`` is replaced by the base URL with its path and query, which the log does not show."""
    fake_upstream.replies(whole(200, b"{}"))

    with traffic_log(f"{fake_upstream.base_url}/accounts/7?version=2", 20) as log:
        exchange = asked(log)

    assert ["/v1/accounts/7/chat/completions?version=2"] == [request.path for request in fake_upstream.seen]
    assert "/v1/chat/completions" == exchange.path


def test_two_opinions(fake_upstream: FakeUpstream, log: TrafficLog) -> None:
    """Where vcrpy and the proxy disagree, neither is believed."""
    fake_upstream.replies(stream(SUN))
    exchange = asked(log)

    with pytest.raises(CapturesDisagree, match="vcrpy has 0 exchanges and the proxy saw 1"):
        _compare(_MemoryPersister(), [exchange])
