"""The dress of a stream: line ends, marks, comments and cuts, by the rules of the event-stream format."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptck.spec import strategies
from looptck.values.framing import DEFAULT, PRESETS, Framing
from meta.wires.sse_reader import data_of

EVENTS: list[object] = [{"a": "x\u2028y\u0085z"}, {"b": [1]}, "[DONE]"]


def test_the_default_encoding() -> None:
    """A line of data, an empty line, and nothing else."""
    assert b'data: {"b":[1]}\n\ndata: [DONE]\n\n' == DEFAULT.encode(EVENTS[1:])


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_line_ends_are_all_of_one_kind(newline: str) -> None:
    """A stream has the line ends that were asked for and no others."""
    framing = DEFAULT.but(newline=newline, comments=True, event_names=True, data_lines=True)
    stream = framing.encode(EVENTS).decode()

    assert "" == stream.replace(newline, "").translate({ord(char): None for char in stream if char not in "\r\n"})
    assert stream.endswith(newline * 2)


def test_characters_that_split_lines_elsewhere_stay_whole() -> None:
    """U+2028 and U+0085 go out as they are: they end no line of an event stream."""
    stream = DEFAULT.encode(EVENTS[:1])

    assert '"x\u2028y\u0085z"'.encode() in stream
    assert 2 == stream.count(b"\n")


def test_escapes_leave_nothing_beyond_ascii() -> None:
    """With escapes a stream is ASCII."""
    assert DEFAULT.but(escaped=True).encode(EVENTS).isascii()


def test_a_mark_is_at_the_start_alone() -> None:
    """The byte order mark stands before the first event and nowhere else, though events are dressed one by one."""
    each = list(DEFAULT.but(mark=True).encode_each(EVENTS))

    assert [True, False, False] == [b"\xef\xbb\xbf" in event for event in each]
    assert each[0].startswith(b"\xef\xbb\xbf")


def test_without_a_space_there_is_none() -> None:
    """The space after the colon is left out."""
    assert b'data:{"b":[1]}\n\ndata:[DONE]\n\n' == DEFAULT.but(space=False).encode(EVENTS[1:])


def test_data_lines_are_laid_out() -> None:
    """An event's JSON lies over several lines of data, which mean the same together."""
    stream = DEFAULT.but(data_lines=True).encode(EVENTS[1:2])
    (data,) = data_of(stream)

    assert 1 < stream.count(b"data: ")
    assert {"b": [1]} == json.loads(data)


def test_comments_stand_between_events() -> None:
    """A comment stands before every event and at the end, in a block of its own."""
    stream = DEFAULT.but(comments=True).encode(EVENTS[2:])

    assert b": keep-alive\n\ndata: [DONE]\n\n: bye\n\n" == stream


def test_other_fields_go_with_data() -> None:
    """Event names, ids and retry times stand in the same block as the data."""
    stream = DEFAULT.but(event_names=True).encode(EVENTS[2:])

    assert b"event: message\nid: 0\nretry: 3000\ndata: [DONE]\n\n" == stream


@given(strategies.framings(), st.binary(max_size=2000))
def test_cutting_loses_nothing(framing: Framing, stream: bytes) -> None:
    """The pieces of a stream, joined, are the stream, and none of them is empty."""
    pieces = framing.pieces(stream)

    assert stream == b"".join(pieces)
    assert all(pieces) or [b""] == pieces


@given(st.integers(1, 9), st.binary(max_size=50))
def test_pieces_have_the_size_that_was_asked_for(every: int, stream: bytes) -> None:
    """All pieces but the last have the same size."""
    pieces = DEFAULT.but(every=every).pieces(stream)

    assert stream == b"".join(pieces)
    assert {every} >= {len(piece) for piece in pieces[:-1]}


@given(strategies.framings())
def test_one_by_one_is_the_same_as_at_once(framing: Framing) -> None:
    """Events dressed one by one, joined, are the stream."""
    assert framing.encode(EVENTS) == b"".join(framing.encode_each(EVENTS))


@pytest.mark.parametrize("name", PRESETS)
def test_each_name_is_of_its_own_framing(name: str) -> None:
    """No two named framings are the same, and every one but the natural differs from it."""
    assert [name] == [other for other, framing in PRESETS.items() if framing == PRESETS[name]]


def test_the_reader_of_these_tests_reads() -> None:
    """The tests' own reader knows marks, comments, fields, blank lines, and that an unfinished event is none."""
    stream = "\ufeff: hi\r\n\r\ndata:a\rdata: b\r\revent: x\n\ndata\n\nid: 1\ndata: c\n\ndata: lost\n"

    assert ["a\nb", "", "c"] == data_of(stream.encode())
