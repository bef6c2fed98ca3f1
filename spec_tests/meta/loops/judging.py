"""Runs the suite on a loop of this folder: few examples, short timeouts, selected cells and requirements."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from looptck.bench.bench import Patience
from looptck.catalogue.data import cassette
from looptck.commands.pytest_run import run_pytest
from looptck.suite.options import Options
from looptck.suite.selection import Selection
from looptck.suite.session import Session
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
) -> list[Result]:
    """The results of a profile in these cells.

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
    run_pytest(session)
    assert [] == [result for result in session.record.results if result.verdict == "error"]
    return session.record.results


def against(results: Sequence[Result]) -> dict[str, str]:
    """Why requirements fail, or are not reached."""
    return {result.requirement: result.reason for result in results if result.verdict in AGAINST}
