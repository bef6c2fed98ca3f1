"""Many cases in one test: no failure is lost, and none hides another."""

from __future__ import annotations

import pytest

from meta.kit.each import each


def _is_even(number: int) -> None:
    assert number % 2 == 0, f"{number} is odd"


def test_what_holds_in_each_case_passes() -> None:
    """Every case is tried with its values."""
    seen: list[tuple[int, str]] = []

    each({"a": (1, "x"), "b": (2, "y")}, lambda *values: seen.append(values))

    assert [(1, "x"), (2, "y")] == seen


def test_all_failing_cases_are_named() -> None:
    """Not only the first one: each has its name and its reason, an error that is no assertion too."""
    with pytest.raises(AssertionError) as raised:
        each({"one": (1,), "two": (2,), "three": (3,), "none": (None,)}, _is_even)

    told = str(raised.value)
    assert told.startswith("3 of 4 cases fail:\n\none: AssertionError: 1 is odd")
    assert "\n\nthree: AssertionError: 3 is odd" in told
    assert "\n\nnone: TypeError: " in told
    assert "two" not in told


def test_no_case_at_all_fails() -> None:
    """A test whose cases are gone proves nothing."""
    with pytest.raises(AssertionError, match="there is no case to try"):
        each({}, _is_even)
