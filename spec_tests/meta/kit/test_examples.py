"""Examples of properties: which values a property is tried with."""

from __future__ import annotations

from typing import Any, cast

from hypothesis import strategies as st

from looptck.checks import Implementation
from looptck.kit import Scene


def implementation(examples: int) -> Implementation:
    """One that is asked for examples alone."""
    return Implementation(cast("Any", None), cast("Any", None), Scene(), examples)


def test_first_values_are_tried_before_all_others() -> None:
    """However few examples are asked for, what has to be tried is."""
    tried: list[str] = []

    @implementation(1).every(st.text(), first={"text": "this first"})
    def holds(text: str) -> None:
        tried.append(text)

    assert ["this first", ""] == tried


def test_values_are_the_same_the_next_time() -> None:
    """A property that held is tried with the values that it held for."""
    tried: list[int] = []

    def holds(number: int) -> None:
        tried.append(number)

    for _ in range(2):
        implementation(5).every(st.integers(), first={"number": 7})(holds)

    half = len(tried) // 2
    assert tried[:half] == tried[half:]
    assert 7 == tried[0]
