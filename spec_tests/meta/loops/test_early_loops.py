"""A loop that starts calls early reliably fails the requirements that it breaks, and no others."""

from __future__ import annotations

import pytest

from looptck.values.verdicts import AGAINST
from meta.loops.early import StartsEarly, StartsEarlyUndeclared
from meta.loops.judging import judged

RUNS = {
    "cut-reply-runs-nothing",
    "error-event-runs-nothing",
    "stream-without-finish-runs-nothing",
}
"""The requirements that a loop breaks on every wire by a call that it started before the end of the turn."""


FURTHER = [
    ("openai-chat", {"filtered-turn-runs-nothing"}),
    (
        "openai-responses",
        {
            "failed-response-runs-nothing",
            "filtered-turn-runs-nothing",
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
        },
    ),
]
"""The other requirements that it breaks, by wire."""
WAITING = "calls-run-after-the-stream-ends"


@pytest.mark.parametrize(("wire", "further"), FURTHER)
def test_declared(wire: str, further: set[str]) -> None:
    """The declaration only permits to start before the stop reason."""
    results = judged(StartsEarly, f"{wire}/stream/async")

    assert RUNS | further == {result.requirement for result in results if result.verdict in AGAINST}
    assert ["not-applicable"] == [result.verdict for result in results if result.requirement == WAITING]


@pytest.mark.parametrize(("wire", "further"), FURTHER)
def test_not_declared(wire: str, further: set[str]) -> None:
    """The early start is found without the declaration too."""
    broken = RUNS | further | {WAITING}

    results = judged(StartsEarlyUndeclared, f"{wire}/stream/async", requirements=sorted(broken))

    assert broken == {result.requirement for result in results if result.verdict in AGAINST}
