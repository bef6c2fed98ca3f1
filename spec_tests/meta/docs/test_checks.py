"""The examples of the page on checks work: the right loop passes, the mutant fails, and the trait is answered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from looptck.bench.assertions import hold
from looptck.bench.cases import read
from looptck.bench.checks import Check, Implementation
from looptck.bench.scenario import Scenario
from looptck.catalogue.data import fixture
from looptck.catalogue.requirements import catalogue
from looptck.catalogue.traits import traits
from looptck.suite.asking import Question, Survey, loop_for
from looptck.suite.options import Options
from looptck.suite.session import Session
from looptck.values.cell import Cell
from meta.docs.pages import block

PAGE = "docs/checks.md"
CELL = Cell("openai-chat", stream=False, mode="sync")
ROW = "every-call-of-a-turn-runs"
RIGHT = "python:looptck_reference.kit.driver:Driver"


def _made(words: str) -> dict[str, Any]:
    """The names that a Python example defines."""
    names: dict[str, Any] = {"__name__": "example"}
    exec(block(PAGE, words), names)  # noqa: S102  the example is ours
    return names


def _by_test(scenario: Scenario, implementation: Implementation) -> None:
    _made("test_two_calls")["test_two_calls"](scenario, implementation)


def _by_case(scenario: Scenario, implementation: Implementation) -> None:
    folder = Path(implementation.check.case)
    (folder / "topic").mkdir()
    (folder / "case.schema.json").write_bytes(fixture("cases/case.schema.json").read_bytes())
    (folder / "topic" / "mine.yaml").write_text(block(PAGE, "script:"), encoding="utf-8")
    case = read(folder)["mine"]
    case.set(scenario)
    hold(implementation.run(case.question, tools=case.tools, agent=case.agent), case.checks[ROW])


@contextmanager
def _session(driver: str) -> Iterator[Session]:
    session = Session.begin(Options(driver))
    try:
        yield session
    finally:
        session.end()


@pytest.fixture(name="mutant")
def _mutant(tmp_path: Path) -> str:
    """The driver of the mutant that the page shows."""
    path = tmp_path / "mutant.py"
    path.write_text(block(PAGE, "class FirstCallOnly"), encoding="utf-8")
    return f"python:{path}:FirstCallOnly.driver"


@pytest.mark.parametrize("example", [_by_test, _by_case])
def test_examples_pass_the_right_loop_and_fail_the_mutant(
    example: Callable[[Scenario, Implementation], None], mutant: str, tmp_path: Path
) -> None:
    """The reference passes; the mutant fails, because a tool that should have run did not."""
    for driver in (RIGHT, mutant):
        folder = tmp_path / ("right" if driver == RIGHT else "wrong")
        folder.mkdir()
        with _session(driver) as session:
            scenario = Scenario()
            implementation = session.implementation(Check(catalogue()[ROW], CELL, str(folder)), scenario)
            if driver == RIGHT:
                example(scenario, implementation)
            else:
                with pytest.raises(AssertionError, match="weather"):
                    example(scenario, implementation)


def test_the_mutant_names_what_the_page_is_about() -> None:
    """The mutant says that it breaks the requirement of the page, and its collateral is a requirement."""
    found = _made("class FirstCallOnly")["FirstCallOnly"].driver

    assert (ROW,) == found.breaks
    assert all(catalogue()[id] for id in found.collateral)


def test_the_trait_is_answered() -> None:
    """The example of a trait gives an answer that the trait has."""
    made = _made("test_equal_calls_in_a_turn")
    with _session(RIGHT) as session:
        loop = loop_for(Question(traits()["equal-calls-in-a-turn"], CELL), session.bench, Survey())
        made["test_equal_calls_in_a_turn"](loop)

    assert loop.answer is not None
    assert "both-run" == loop.answer.answer
