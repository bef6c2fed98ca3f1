"""The form of the files: whatever was recorded comes back to the byte, in the most readable form that does so."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from looptck.cassettes.file_format import (
    Chunks,
    Interaction,
    Provenance,
    compact,
    parse_cassette,
    parse_chunks,
    render_cassette,
    render_chunks,
)

PROVENANCE = Provenance("a server", "", "a model", "0" * 64, "a client", "a recorder", "2026-01-31", ("Nothing.",))
CHARACTERS = st.characters(exclude_categories=["Cs"]) | st.sampled_from("\n\r\t \x85\u2028\u2029\ufeff\x00\x1b'\"|>#:-")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(CHARACTERS),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(CHARACTERS), inner, max_size=4),
    max_leaves=12,
)


def _file(body: bytes, request: Any = None, *, broken: bool = False) -> str:
    headers = {"content-type": "text/event-stream"}
    return render_cassette(PROVENANCE, [Interaction("POST", "/v1/x", {}, request, 200, headers, body, broken)])


def _back(text: str) -> Interaction:
    provenance, (interaction,) = parse_cassette(yaml.safe_load(text))
    assert PROVENANCE == provenance
    return interaction


@given(st.binary(max_size=60) | st.text(CHARACTERS).map(str.encode))
def test_any_body_comes_back(body: bytes) -> None:
    """Bytes are bytes, whatever they are."""
    assert body == _back(_file(body)).body


@given(JSON)
def test_any_json_comes_back(value: Any) -> None:
    """Requests are kept as trees, and so is a reply that is compact JSON; equal means equal text."""
    interaction = _back(_file(compact(value), value, broken=True))

    assert (compact(value), compact(value)) == (compact(interaction.request), interaction.body)
    assert interaction.broken


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b'data: {"a":1}\n\ndata: [DONE]\n\n', '      text: |+\n        data: {"a":1}\n\n        data: [DONE]\n'),
        (b"data: 1\r\n\r\n", 'text: "data: 1\\r\\n\\r\\n"'),
        ("data: one\u2028two\x85\n\n".encode(), 'text: "data: one\\Ltwo\\N\\n\\n"'),
        ("data: Zürich 🌦\n\n".encode(), "data: Zürich 🌦"),
        (b'{"a":[1,"b"]}', "json:\n        a:\n        - 1\n        - b\n"),
        (b'{"a": 1}', "text: '{\"a\": 1}'"),
        (b"\xff\xfe", "base64: //4="),
    ],
    ids=["events", "crlf", "separators", "beyond-ascii", "json", "loose-json", "no-text"],
)
def test_readable(body: bytes, shown: str) -> None:
    """Events are text, compact JSON is a tree, and base64 is for what is no text."""
    assert shown in _file(body)


def test_chunks_come_back() -> None:
    """Borders and times, each chunk list on one line."""
    chunks = [Chunks((3, 9), (0.5, 12.0)), Chunks((), ())]
    text = render_chunks("0" * 64, chunks)

    assert tuple(chunks) == parse_chunks(yaml.safe_load(text))
    assert "ends: [3, 9]" in text
    assert json.dumps([0.5, 12.0]) in text
