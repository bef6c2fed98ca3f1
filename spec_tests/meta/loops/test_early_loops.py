"""A loop that starts calls early fails what it breaks, every time, and nothing else."""

from __future__ import annotations

import pytest

from looptck.values.verdicts import AGAINST
from meta.loops.early import StartsEarly, StartsEarlyUntold
from meta.loops.judging import judged

RUNS = {
    "cut-reply-runs-nothing",
    "error-event-runs-nothing",
    "stream-without-finish-runs-nothing",
}
"""What a loop breaks on every wire by a call that it started before it knew what would become of the turn."""


FURTHER = [
    ("openai-chat", {"filtered-call-never-runs"}),
    (
        "openai-responses",
        {
            "failed-response-runs-nothing",
            "filtered-call-never-runs",
            "incomplete-call-never-runs",
            "unfinished-response-runs-nothing",
        },
    ),
    (
        "anthropic-messages",
        {
            "refused-call-never-runs",
            "stopped-turn-runs-nothing",
            "truncated-turn-runs-nothing",
            "unknown-stop-reason-ends-the-loop",
        },
    ),
]
"""What it breaks beside, by wire."""
WAITING = "calls-run-after-the-stream-ends"


@pytest.mark.parametrize(("wire", "further"), FURTHER)
def test_declared(wire: str, further: set[str]) -> None:
    """Waiting is what the declaration excuses, and nothing else."""
    results = judged(StartsEarly, f"{wire}/stream/async")

    assert RUNS | further == {result.requirement for result in results if result.verdict in AGAINST}
    assert ["not-applicable"] == [result.verdict for result in results if result.requirement == WAITING]


@pytest.mark.parametrize(("wire", "further"), FURTHER)
def test_not_declared(wire: str, further: set[str]) -> None:
    """It is seen all the same."""
    broken = RUNS | further | {WAITING}

    results = judged(StartsEarlyUntold, f"{wire}/stream/async", requirements=sorted(broken))

    assert broken == {result.requirement for result in results if result.verdict in AGAINST}
