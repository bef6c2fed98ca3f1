"""Which requests accept gzip, and what is sent to them."""

from __future__ import annotations

import zlib

import pytest

from looptck.provider.gate import Gate
from looptck.provider.http import HttpReply, head
from looptck.provider.replies import accepts_gzip, body_of, zipped


@pytest.mark.parametrize(
    ("accepted", "expected"),
    [
        ("gzip", True),
        ("gzip, deflate, br", True),
        ("deflate , GZIP;q=0.5", True),
        ("gzip;q=0", False),
        ("gzip; q=0.000", False),
        ("identity", False),
        ("x-gzip-like", False),
        ("", False),
        (None, False),
    ],
)
def test_requests_say_whether_they_accept_gzip(accepted: str | None, expected: bool) -> None:
    """By a list of codings, in any case, each with a weight, of which zero forbids it."""
    assert expected == accepts_gzip({} if accepted is None else {"accept-encoding": accepted})


def test_each_part_of_a_stream_can_be_read_when_it_arrives() -> None:
    """A gate between two parts holds nothing of the first back, and the end ends the stream."""
    gate = Gate("later")

    first, held, second, end = zipped([b"data: 1\n\n", gate, b"data: 2\n\n"])

    reader = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    assert held is gate
    assert isinstance(first, bytes)
    assert isinstance(second, bytes)
    assert isinstance(end, bytes)
    assert [b"data: 1\n\n", b"data: 2\n\n", b""] == [reader.decompress(part) for part in (first, second, end)]
    assert reader.eof


def test_a_body_is_told_as_it_was() -> None:
    """A report shows what was compressed, not the bytes on the wire."""
    packed = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    body = packed.compress(b"{}") + packed.flush()

    assert b"{}" == body_of(HttpReply([head(200, [("content-encoding", "gzip")], length=len(body)) + body]))
    assert body == body_of(HttpReply([head(200, [], length=len(body)) + body]))
