"""Each broken loop fails the requirement that names its fault, and no more than its fault really breaks."""

from __future__ import annotations

from collections import defaultdict

import pytest

from looptck.kit import Patience
from looptck.running import run_pytest
from looptck.selection import Selection
from looptck.session import Options, Session
from looptck.verdicts import AGAINST, Result
from meta.loops import broken

LIMIT = {"limit-is-a-ceiling", "limit-of-zero-runs-no-tool", "limit-reached-is-told", "loop-is-finite-by-default"}
PARALLEL = {
    "every-call-of-a-turn-runs",
    "every-call-is-answered",
    "results-carry-their-call-ids",
    "results-follow-their-calls",
    "results-keep-call-order",
    "calls-are-echoed",
}

FAULTS: dict[type, tuple[str, set[str]]] = {}


def judged(driver: type, *, examples: int = 3) -> list[Result]:
    """All results of the suite on a driver of ``broken``, with few examples and little patience."""
    options = Options(
        driver=f"python:{broken.__name__}:{driver.__name__}",
        selection=Selection(profiles=("core",)),
        patience=Patience(outcome=20.0, gate=0.5),
        examples=examples,
    )
    session = Session.begin(options)
    run_pytest(session)
    return session.results


def found(results: list[Result]) -> dict[str, set[str]]:
    """The requirements that count against, each with its verdicts."""
    against: dict[str, set[str]] = defaultdict(set)
    for result in results:
        assert result.verdict != "error", result.reason
        if result.verdict in AGAINST:
            against[result.requirement].add(result.verdict)
    return dict(against)


if __name__ == "__main__":
    import sys
    for name in sys.argv[1:]:
        res = judged(getattr(broken, name))
        for k, v in sorted(found(res).items()):
            cells = sorted({r.cell.partition("/")[2] for r in res if r.requirement == k and r.verdict in AGAINST})
            print(name, k, v, cells, {r.case for r in res if r.requirement == k and r.verdict in AGAINST})
