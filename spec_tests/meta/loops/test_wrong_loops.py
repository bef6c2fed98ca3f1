"""Each fault fails the requirement that is about it."""

from __future__ import annotations

import pytest

from looptck.provider.script import RUNAWAY_CAP
from looptck_reference.kit.driver import Driver
from meta.loops import wrong
from meta.loops.judging import judged

CHAT = "openai-chat/plain/sync"


@pytest.mark.parametrize(
    ("loop", "requirement", "case"),
    [
        (wrong.NewIdsForCallsOnly, "results-carry-their-call-ids", "parallel-calls"),
        (wrong.NewIdsForCallsOnly, "every-call-is-answered", "one-call"),
        (wrong.OneIdForAll, "every-call-is-answered", "parallel-calls"),
        (wrong.OneIdForAll, "results-carry-their-call-ids", "parallel-calls"),
        (wrong.ResultsSwapped, "results-carry-their-call-ids", "parallel-calls"),
        (wrong.AllResultsSoFar, "results-carry-their-call-ids", "parallel-calls"),
        (wrong.OtherArgumentsEchoed, "calls-are-echoed", "one-call"),
    ],
)
def test_fault_fails(loop: type[Driver], requirement: str, case: str) -> None:
    """The check has a verdict against the loop."""
    results = judged(loop, CHAT, requirements=[requirement], cases=[case])

    assert [(requirement, "fail")] == [
        (result.requirement, result.verdict) for result in results if result.requirement == requirement
    ]


def test_calls_that_never_came_say_nothing_of_their_names() -> None:
    """A request before them was refused: the row of that is failed, and the row of the names not reached."""
    rows = ["calls-run-the-tool-they-name", "no-request-is-refused"]
    results = judged(wrong.NewIdsForCallsOnly, CHAT, requirements=rows, cases=["names-with-other-signs[prefix]"])

    assert [(rows[0], "not-reached"), (rows[1], "fail")] == sorted(
        (result.requirement, result.verdict) for result in results
    )


def test_no_limit_is_seen_once_in_full() -> None:
    """A loop without a limit fails in every cell of a wire, and only one of them takes the longest conversation."""
    wrong.HasNoLimit.asked.clear()
    results = judged(wrong.HasNoLimit, CHAT, "openai-chat/stream/sync", requirements=["loop-is-finite-by-default"])

    assert ["fail", "fail"] == [result.verdict for result in results]
    assert [True, True] == [RUNAWAY_CAP <= max(wrong.HasNoLimit.asked), min(wrong.HasNoLimit.asked) < RUNAWAY_CAP / 3]
