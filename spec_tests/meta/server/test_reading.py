"""Event streams as clients of servers read them: the events do not depend on how the bytes come."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from looptck.bench.client import events
from looptck.bench.client.events import Reader

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=8)
EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["", "message_stop", "a b"]),
        st.one_of(st.just("[DONE]"), st.dictionaries(TEXTS, TEXTS, max_size=2)),
        st.sampled_from(["\n", "\r", "\r\n"]),
        st.lists(TEXTS, max_size=2),
        st.sampled_from(["", " "]),
    ),
    max_size=5,
)


def encoded(name: str, value: Any, end: str, comments: list[str], space: str) -> str:
    """One event with comments before it."""
    data = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    lines = [
        *(f":{comment}" for comment in comments),
        *([f"event:{space}{name}"] if name else []),
        f"data:{space}{data}",
    ]
    return "".join(line + end for line in [*lines, ""])


def read(reader: Reader, data: bytes, borders: list[int]) -> list[tuple[str, Any]]:
    """The events of a stream that comes in pieces."""
    places = sorted({0, len(data), *(border % (len(data) + 1) for border in borders)})
    pieces = [data[start:end] for start, end in pairwise(places)]
    return [event for piece in pieces for event in reader.feed(piece)]


@settings(max_examples=300)
@given(told=EVENTS, borders=st.lists(st.integers(0, 2000), max_size=12))
def test_borders_do_not_count(told: list[tuple[str, Any, str, list[str], str]], borders: list[int]) -> None:
    """All events come out, whole and in order, whatever ends the lines and wherever the bytes are cut."""
    reader = Reader()

    found = read(reader, "".join(encoded(*event) for event in told).encode(), borders)

    assert [(name, value) for name, value, *_ in told] == found
    assert sum(len(comments) for *_, comments, _ in told) == reader.comments
    assert "" == reader.rest.strip()


@given(told=EVENTS, borders=st.lists(st.integers(0, 2000), max_size=4), lost=st.integers(1, 4))
def test_a_cut_event_is_none(told: list[tuple[str, Any, str, list[str], str]], borders: list[int], lost: int) -> None:
    """An event whose empty line has not come is not told, and stays as the rest."""
    reader = Reader()
    whole = "".join(encoded(*event) for event in told).encode()
    cut = b"data: {}\n\n"[:-lost]

    found = read(reader, whole + cut, borders)

    assert len(told) == len(found)
    assert cut.decode() == reader.rest.lstrip()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_byte_alone(end: str) -> None:
    """A stream that comes byte by byte, with characters of several bytes, loses nothing."""
    event = encoded("näme", {"text": "\u2028 \U0001f600 \x85"}, end, ["keep: alive", "\u2028: none"], " ")
    reader = Reader()

    found = read(reader, (event * 3).encode(), list(range(1000)))

    assert [("näme", {"text": "\u2028 \U0001f600 \x85"})] * 3 == found
    assert 6 == reader.comments


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        ("data: 1\ndata: 2\n\n", [("", "1\n2")]),
        ("event: a\n\ndata: 1\n\n", [("", 1)]),
        ("id: 7\nretry: 5\ndata\n\n", [("", "")]),
        ("\n\n\n: only\n\n\n", []),
        ("data: {not json}\n\n", [("", "{not json}")]),
        ("\ufeffdata: 1\n\n", [("", 1)]),
        ("", []),
    ],
)
def test_the_rules_of_the_format(stream: str, expected: list[tuple[str, Any]]) -> None:
    """Lines of data are joined, a name without data is no event, and what is no JSON is told as text."""
    assert expected == list(Reader().feed(stream.encode()))


def test_a_large_event_is_looked_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What has come is not looked through again with each piece that follows."""
    looked: list[int] = []

    class Counting:
        def search(self, text: str) -> None:
            looked.append(len(text))

    monkeypatch.setattr(events, "_BLANK", Counting())
    reader = Reader()

    for _ in range(100):
        assert [] == list(reader.feed(b"x" * 1000))

    assert 100_000 == len(reader.rest)
    assert sum(looked) < 101_000
