"""Each broken loop fails the requirement that names its fault, and no more than its fault really breaks."""

from __future__ import annotations

import pytest

from looptck.kit import Patience
from looptck.running import run_pytest
from looptck.selection import Selection
from looptck.session import Options, Session
from looptck.verdicts import AGAINST, Result
from looptck_reference.driver import Driver
from meta.loops import broken

FAULTS: list[tuple[type, str, dict[str, str]]] = [
    (
        broken.NoLimit,
        "limit-is-a-ceiling",
        {
            "limit-of-zero-runs-no-tool": "0 is a limit too",
            "limit-reached-is-told": "not reached: the limit never takes hold",
            "loop-is-finite-by-default": "the default is a limit too",
        },
    ),
    (
        broken.OneTooMany,
        "limit-is-a-ceiling",
        {
            "limit-of-zero-runs-no-tool": "one call of the model is one round of tools",
            "limit-reached-is-told": "not reached: the limit takes hold too late",
        },
    ),
    (
        broken.Swapped,
        "results-carry-their-call-ids",
        {
            "conversations-are-carried-right": "any conversation with two calls in a turn",
            "failing-call-leaves-the-others-whole": "the failed call's error lands on another",
            "recorded-traffic-is-read-right": "one recording has two calls in a turn",
            "unknown-tool-is-not-lost": "the error about the unknown tool lands on the known one",
        },
    ),
    (
        broken.FirstCallOnly,
        "every-call-of-a-turn-runs",
        {
            "calls-in-one-delta-all-run": "two calls in a delta are two calls in a turn",
            "conversations-are-carried-right": "not reached: the provider refuses the unanswered call",
            "every-call-is-answered": "what did not run has no result",
            "interleaved-calls-stay-apart": "needs two calls in a turn",
            "one-index-two-ids-are-two-calls": "needs two calls in a turn",
            "recorded-traffic-is-read-right": "one recording has two calls in a turn",
            "requests-are-well-formed": "the service refuses a history with an unanswered call",
            "results-keep-call-order": "not reached: one result has no order",
            "twin-ids-lose-nothing": "needs two calls in a turn",
        },
    ),
    (broken.Hoarder, "final-text-arrives-as-it-is-written", {}),
]
"""Each loop, the requirement that names its fault, and what else the fault breaks, with the reason."""


def judged(driver: type) -> list[Result]:
    """All results of profile ``core`` on a broken loop, with few examples and little patience."""
    options = Options(
        driver=f"python:{driver.__module__}:{driver.__name__}",
        selection=Selection(profiles=("core",)),
        patience=Patience(outcome=20.0, gate=0.5),
        examples=3,
    )
    session = Session.begin(options)
    run_pytest(session)
    return session.results


@pytest.mark.parametrize(("driver", "named", "broken_too"), FAULTS, ids=[driver.__name__ for driver, _, _ in FAULTS])
def test_broken_loop(driver: type, named: str, broken_too: dict[str, str]) -> None:
    """The requirement that names the fault fails in every cell that it concerns; nothing unexplained does."""
    results = judged(driver)

    against = {result.requirement for result in results if result.verdict in AGAINST}
    assert {named, *broken_too} == against
    cells = {result.cell for result in results if result.requirement == named}
    assert cells == {r.cell for r in results if r.requirement == named and r.verdict == "fail"}
    assert [] == [result for result in results if result.verdict == "error"]


def test_the_reference_itself_is_whole() -> None:
    """The loop from which the broken ones are made breaks nothing: their faults are their own."""
    results = judged(Driver)

    assert set() == {result.requirement for result in results if result.verdict not in {"pass", "divergence"}}
    assert 250 <= sum(result.verdict == "pass" for result in results)
