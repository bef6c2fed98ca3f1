"""Text of others is printed without what would move the cursor or hide something."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptck.values.printable import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, Käfig, 東京, 🙂", "plain, Käfig, 東京, 🙂"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("\x1b[2Jgone\x07", r"\x1b[2Jgone\x07"),
        ("over\rwritten\x08", r"over\x0dwritten\x08"),
        ("\x9b31m", r"\x9b31m"),
        ("left \u202e right", r"left \u202e right"),
        ("half \ud83d", r"half \ud83d"),
    ],
)
def test_what_is_unsafe_is_escaped(text: str, shown: str) -> None:
    """Letters of any script stay as they are."""
    assert shown == printable(text)


def test_long_texts_are_cut() -> None:
    """What is left out is counted."""
    assert "aaa … 2 more characters" == printable("aaaaa", 3)


@given(st.text())
def test_nothing_unsafe_is_left(text: str) -> None:
    """No control character but for line feeds and tabs, and no half of a pair."""
    left = {unicodedata.category(letter) for letter in printable(text) if letter not in "\n\t"}

    assert not left & {"Cc", "Cs", "Zl", "Zp"}
