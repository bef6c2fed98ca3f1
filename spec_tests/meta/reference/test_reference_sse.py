"""The reader of server-sent events."""

from __future__ import annotations

import pytest

from looptck_reference.wires.sse import EventReader

BOM = b"\xef\xbb\xbf"


def read(*pieces: bytes) -> list[str]:
    """All events in these pieces."""
    reader = EventReader()
    return [event for piece in pieces for event in reader.feed(piece)]


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        (b"data: a\n\ndata: b\n\n", ["a", "b"]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]),
        (b"data: a\r\rdata: b\r\r", ["a", "b"]),
        (b"data: a\n\r\ndata: b\r\n\n", ["a", "b"]),
        (b"data:a\n\n", ["a"]),
        (b"data:  a\n\n", [" a"]),
        (b"data: a\ndata: b\n\n", ["a\nb"]),
        (b"data: a\ndata\n\n", ["a\n"]),
        (b": keep-alive\n\nevent: x\nid: 1\nretry: 5\nfoo: bar\ndata: a\n\n", ["a"]),
        (b"data\n\n", []),
        (b"datax: a\n\n", []),
        (b"\n\n\n", []),
        (b"data: a\n", []),
        (b"data: a", []),
        (BOM + b"data: a\n\n", ["a"]),
        (b"data: " + BOM + b"\n\n", ["\ufeff"]),
        ("data: \u2028\u0085\u2029\x0b\x0c\x1c\n\n".encode(), ["\u2028\u0085\u2029\x0b\x0c\x1c"]),
        (b"data: \xff\n\n", ["\ufffd"]),
    ],
    ids=repr,
)
def test_streams_and_their_events(stream: bytes, events: list[str]) -> None:
    """The format's rules, one by one."""
    assert events == read(stream)


def test_crlf_over_a_border_is_one_line_end() -> None:
    """The LF that follows a CR in the next piece ends no second line, so it ends no event either."""
    assert ["a\nb"] == read(b"data: a\r", b"\ndata: b\r", b"", b"\n\r", b"\n")
