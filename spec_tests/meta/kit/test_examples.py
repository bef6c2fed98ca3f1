"""Examples of properties: which values a property is tried with."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import configuration, given
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers

from looptck.bench.checks import Implementation
from looptck.bench.properties import SHRINKS
from looptck.bench.scenario import Scenario
from looptck.spec import strategies


def implementation(examples: int) -> Implementation:
    """One that is asked for examples alone."""
    return Implementation(cast("Any", None), cast("Any", None), Scenario(), examples)


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


def test_values_are_the_same_in_another_folder() -> None:
    """A property of the suite is tried with the same values after its file has moved, and another one with others."""

    def tried(module: str) -> list[int]:
        numbers: list[int] = []

        def holds(number: int) -> None:
            numbers.append(number)

        holds.__module__ = module
        implementation(5).every(st.integers())(holds)
        return numbers

    assert tried("looptck.spec.test_it") == tried("looptck.spec.core.test_it")
    assert tried("looptck.spec.core.test_it") != tried("looptck.spec.core.test_another")


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


def test_search_for_a_smaller_value_ends() -> None:
    """However small a value may become, a slow implementation is asked for so many runs and few more."""
    tried: list[list[int]] = []

    def is_wrong(numbers: list[int]) -> bool:
        return all(number >= 97 * (place + 1) ** 2 for place, number in enumerate(numbers))

    with pytest.raises(AssertionError, match="too much"):

        @implementation(50).every(st.lists(st.integers(0, 10**9), min_size=8, max_size=8))
        def holds(numbers: list[int]) -> None:
            tried.append(numbers)
            assert not is_wrong(numbers), "too much"

    wrong = [numbers for numbers in tried if is_wrong(numbers)]
    behind = len(tried) - tried.index(wrong[0])
    assert SHRINKS < behind < 3 * SHRINKS
    assert sum(tried[-1]) < sum(wrong[0])


ODD = '''
"""A module of an implementation, with literals that no property would come upon by chance."""

from looptck_reference.kit.driver import Driver as Reference


class Driver(Reference):
    {word} = {values}
'''


def drawn_beside(folder: Path, word: str, values: str) -> list[str]:
    """The values that a property is tried with in a process that has loaded a driver of this source."""
    (folder / f"{word}_driver.py").write_text(ODD.format(word=word, values=values), encoding="utf-8")
    program = f"""
import {word}_driver
from looptck.bench.checks import Implementation
from looptck.bench.properties import drawn
from looptck.bench.scenario import Scenario
from hypothesis import strategies as st

values = st.text(st.characters(exclude_categories=("Cs",))) | st.integers().map(str) | st.floats().map(str)

@Implementation(None, None, Scenario(), 300).every(values)
def holds(value):
    print(repr(value))
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_values_do_not_depend_on_the_implementation(tmp_path: Path) -> None:
    """Literals in the source of a driver are in no value, and two drivers get the same; no file is left behind."""
    texts, numbers = tmp_path / "texts", tmp_path / "numbers"
    texts.mkdir()
    numbers.mkdir()
    words = [f"zyx{n}wvu" for n in range(200)]
    first = drawn_beside(texts, "texts", repr(words))
    second = drawn_beside(numbers, "numbers", repr([7_654_321_000 + n for n in range(200)]))

    assert len(first) > 200
    assert first == second
    assert not any(word in value for word in words for value in first)
    assert {"texts_driver.py", "__pycache__"} >= {path.name for path in texts.iterdir()}


def test_hypothesis_is_left_as_it_was(tmp_path: Path) -> None:
    """Who has tests of hypothesis beside the suite keeps its folder, and its constants."""
    home, constants = configuration.storage_directory("x").path, providers._get_local_constants

    implementation(3).every(st.text())(lambda _: None)

    assert home == configuration.storage_directory("x").path
    assert constants is providers._get_local_constants


@given(strategies.fitting({"type": "integer"}))
def test_integers_are_those_that_every_program_has(value: int) -> None:
    """No example has an integer that JSON's standard calls not interoperable, which a right loop may refuse."""
    assert abs(value) < 2**53
