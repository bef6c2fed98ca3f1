"""The JSON of a run's requests is that of the standard library, whichever entries were written before."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptck_reference.http import texts
from looptck_reference.http.texts import Texts
from looptck_reference.vocabulary.values import Stop

LEAVES = st.one_of(
    st.sampled_from([None, True, False, 0, 1, 0.0, -0.0, 1.0, 2**70, float("inf"), "", "a", "\ud83d", "é", Stop.END]),
    st.floats(),
    st.integers(),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.sampled_from(["a", "b", 1, True, None]), inner, max_size=3),
    ),
    max_leaves=6,
)
BODIES = st.dictionaries(
    st.sampled_from(["model", "messages", "é", 1]), st.one_of(VALUES, st.lists(VALUES)), max_size=3
)


@given(st.lists(BODIES, min_size=1, max_size=4))
def test_bodies_are_written_as_by_the_standard_library(bodies: list[dict[str, Any]]) -> None:
    """Each body of a run has the text that a body has by itself."""
    run = Texts()

    assert [json.dumps(body, separators=(",", ":")) for body in bodies] == [run.of(body).decode() for body in bodies]


def test_an_entry_is_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry that comes again is not written again; one that was changed in place is."""
    written: list[object] = []

    def text(value: Any) -> str:
        written.extend([value] if isinstance(value, Mapping) and "role" in value else [])
        return json.dumps(value, separators=(",", ":"))

    monkeypatch.setattr(texts, "_text", text)
    run, first, second = Texts(), {"role": "user"}, {"role": "assistant"}
    bodies = [run.of({"messages": [first]}), run.of({"messages": (first, second)})]

    assert [b'{"messages":[{"role":"user"}]}', b'{"messages":[{"role":"user"},{"role":"assistant"}]}'] == bodies
    assert [first, second] == written

    first["role"] = "system"

    assert b'{"messages":[{"role":"system"},{"role":"assistant"}]}' == run.of({"messages": [first, second]})
