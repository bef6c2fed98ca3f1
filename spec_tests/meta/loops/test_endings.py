"""Loops that end a run early, or hand on text late: right ones fail no row about something else."""

from __future__ import annotations

import pytest

from looptck.values.verdicts import AGAINST
from looptck_reference.kit.driver import Driver
from meta.loops import ending, late
from meta.loops.judging import judged

LEAVING = ["left-run-starts-no-tool", "left-stream-is-closed", "next-turn-after-leaving-is-accepted"]
LATE_TEXT = "final-text-arrives-as-it-is-written"
ANSWERED = "rejected-call-is-answered"
OBEYED = "resume-obeys-each-decision"


@pytest.mark.parametrize("loop", [late.WhenTheTurnIsWhole, late.WhenTheRunIsOver])
def test_late_text_fails_one_row(loop: type[Driver]) -> None:
    """When its caller has the first text there is nothing left to close or to stop."""
    results = judged(loop, "openai-responses/stream/sync", requirements=[LATE_TEXT, *LEAVING])

    against = [(one.requirement, one.reason) for one in results if one.verdict in AGAINST]
    assert [LATE_TEXT] == [requirement for requirement, _ in against], against


@pytest.mark.parametrize(
    ("loop", "verdict"),
    [
        (ending.EndsWithARejection, "pass"),
        (ending.EndsAlone, "not-applicable"),
        (ending.EndsUnanswered, "fail"),
    ],
)
def test_a_run_may_end_with_a_rejection(loop: type[Driver], verdict: str) -> None:
    """The next question shows whether the rejected call has its result; without a conversation nothing does."""
    results = judged(loop, "openai-chat/plain/sync", requirements=[ANSWERED])

    assert [verdict] == [one.verdict for one in results if one.requirement == ANSWERED]


def test_the_first_rejection_may_end_the_run() -> None:
    """A call about which nobody was asked any more does not run; the next question has both results."""
    second = ["each-decision-is-obeyed[second]"]
    results = judged(ending.EndsWithTheFirst, "openai-chat/plain/sync", requirements=[OBEYED], cases=second)

    assert ["pass"] == [one.verdict for one in results if one.requirement == OBEYED], results
