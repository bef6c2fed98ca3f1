"""Runs the suite on a loop of this folder: few examples, short timeouts, selected cells and requirements."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from zlib import crc32

import pytest

from looptck.bench.bench import Patience
from looptck.bench.checks import Check
from looptck.catalogue.data import cassette
from looptck.commands.pytest_run import run_pytest
from looptck.suite.options import Options
from looptck.suite.plugin import check_of
from looptck.suite.selection import Selection
from looptck.suite.session import Session
from looptck.values.cell import Cell
from looptck.values.verdicts import AGAINST, Result

RECORDED = (
    "answer-looks-like-json",
    "answer-looks-like-a-call",
    "empty-answer",
    "one-call",
    "parallel-calls",
    "text-before-calls",
    "thinking-in-a-chain",
    "separators-in-the-answer",
)
"""The scenarios whose recordings are used: on each of them a loop of this folder fails."""


@cache
def recordings() -> Path:
    """A folder with the cassettes of these scenarios."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    for scenario in RECORDED:
        for path in cassette("").glob(f"*/{scenario}-*.yaml"):
            place = folder / path.parent.name / path.name
            place.parent.mkdir(exist_ok=True)
            shutil.copy(path, place)
    return folder


def judged(
    driver: type,
    *cells: str,
    profile: str = "core",
    requirements: Sequence[str] = (),
    cases: Sequence[str] = (),
    examples: int = 1,
    patience: float = 20.0,
    dealt: bool = False,
) -> list[Result]:
    """The results of a profile in these cells; if ``dealt``, those of each case of a requirement in one cell.

    Properties have one example, the simplest, which is the same with every version of hypothesis: results then do not
    depend on chance, and nothing is shrunk.
    """
    options = Options(
        driver=f"python:{driver.__module__}:{driver.__qualname__}",
        selection=Selection((profile,), tuple(requirements), cells, tuple(cases)),
        patience=Patience(outcome=patience, gate=3.0),
        examples=examples,
        cassettes=recordings(),
        asks=False,
    )
    session = Session.begin(options)
    run_pytest(session, plugins=[_Dealt(session)] if dealt else ())
    assert [] == [result for result in session.record.results if result.verdict == "error"]
    return session.record.results


class _Dealt:
    """A pytest plugin that plays each case of a requirement in one of its cells: all cells in turns.

    What a loop does otherwise than others is the same in all of its cells.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        checks = [(item, check) for item in session.items if (check := check_of(item)) is not None]
        cells: dict[tuple[str, str], list[Cell]] = defaultdict(list)
        for _, check in checks:
            cells[check.requirement.id, check.case].append(check.cell)
        kept = {item: check for item, check in checks if check.cell == self._turn(check.case, cells[_both(check)])}
        session.items = [*kept]
        self._session.collected([*kept.values()], kept.values())

    def _turn(self, case: str, cells: Sequence[Cell]) -> Cell:
        return cells[crc32(f"{self._session.bench.driver} {case}".encode()) % len(cells)]


def _both(check: Check) -> tuple[str, str]:
    return check.requirement.id, check.case


def against(results: Sequence[Result]) -> dict[str, str]:
    """Why requirements fail, or are not reached."""
    return {result.requirement: result.reason for result in results if result.verdict in AGAINST}
