"""Progress: how many checks are left, and how long they take at the pace so far."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from looptck.report.progress import Progress, in_words
from looptck.values.verdicts import Result, Verdict

PASSED: list[Verdict] = ["pass"]


def progress(chosen: int, verdicts: Sequence[Verdict], noticed: int = 0) -> Progress:
    """The progress of a run that began at 100, and in which the last verdicts were noticed beside those of checks."""
    results = [Result("a", "core", "MUST", "openai-chat/plain/sync", "case", verdict) for verdict in verdicts]
    judged = sum(verdict != "divergence" for verdict in verdicts) - noticed
    record: Any = SimpleNamespace(checks=chosen, results=results, judged=judged)
    return Progress(record, began=100.0)


def test_the_line_says_what_is_left() -> None:
    """Twenty checks in ten seconds leave a minute for 120; divergences are no checks."""
    some = progress(140, [*PASSED * 18, "fail", "not-reached", "divergence"])

    assert "20 of 140 checks, 120 left, about 1 min, 2 against" == some.line(110.0)


def test_a_few_checks_are_no_pace() -> None:
    """In the beginning nothing is said of time, and at the end nothing is left."""
    assert "1 of 9 checks, 8 left, 0 against" == progress(9, PASSED).line(110.0)
    assert "20 of 20 checks, 0 left, 0 against" == progress(20, PASSED * 20).line(110.0)


def test_what_is_noticed_is_no_check() -> None:
    """A refused request that is noticed in the run of another check counts against, and not as done."""
    assert "20 of 20 checks, 0 left, 1 against" == progress(20, [*PASSED * 20, "fail"], noticed=1).line(110.0)


@pytest.mark.parametrize(("seconds", "words"), [(0.2, "1 s"), (59.4, "59 s"), (61, "1 min"), (630, "10 min")])
def test_times_are_rough(seconds: float, words: str) -> None:
    """Seconds below a minute, and minutes above."""
    assert words == in_words(seconds)
