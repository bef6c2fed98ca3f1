"""Examples of properties: which values a property is tried with."""

from __future__ import annotations

from typing import Any, cast

import pytest
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


@pytest.mark.parametrize(("shrinks", "told"), [(True, "1000"), (False, "9999")])
def test_value_that_fails_is_made_smaller_where_that_is_asked_for(shrinks: bool, told: str) -> None:
    """A person wants the smallest value; who only wants to know whether the property holds need not wait for it."""
    asked = implementation(1)
    asked.shrinks = shrinks
    numbers = st.just(9999) | st.integers(0, 9999)

    with pytest.raises(AssertionError, match=told):

        @asked.every(numbers.filter(lambda number: number >= 1000))
        def holds(number: int) -> None:
            assert number < 1000, f"{number} is too much"
