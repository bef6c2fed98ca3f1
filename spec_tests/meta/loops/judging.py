"""The suite on a loop of this folder: few examples, little patience, some cells, some requirements."""

from __future__ import annotations

from collections.abc import Sequence

from looptck.kit import Patience
from looptck.running import run_pytest
from looptck.selection import Selection
from looptck.session import Options, Session
from looptck.verdicts import Result


def judged(
    driver: type, *cells: str, requirements: Sequence[str] = (), cases: Sequence[str] = (), examples: int = 1
) -> list[Result]:
    """The results of profile ``core`` in these cells.

    One example is the simplest there is, the same with every version of hypothesis: what a fault breaks is then no
    matter of luck, and nothing is shrunk.
    """
    options = Options(
        driver=f"python:{driver.__module__}:{driver.__name__}",
        selection=Selection(("core",), tuple(requirements), cells, tuple(cases)),
        patience=Patience(outcome=20.0, gate=0.5),
        examples=examples,
    )
    session = Session.begin(options)
    run_pytest(session)
    assert [] == [result for result in session.results if result.verdict == "error"]
    return session.results
