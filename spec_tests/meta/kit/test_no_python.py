"""Nobody who reads a report has to know Python: no message holds its assertions, its reprs or our classes."""

from __future__ import annotations

import pytest

from meta.drivers.bench import Report, judged
from meta.plain_words import PYTHON

BROKEN = {
    "runs-nothing": ("python:meta.kit.flawed:TakesCallsForAnswers", ("openai-responses/stream/sync",)),
    "asks-nothing": ("python:meta.kit.flawed:Pretends", ("openai-chat/plain/sync",)),
    "raises": ("python:meta.kit.flawed:Refuses", ("anthropic-messages/stream/sync",)),
}
"""Loops that fail almost everything. The reasons of loops with one fault are searched where they are played."""


def told(report: Report) -> list[str]:
    """Every line that a reader sees of a failure but its case, whose name is a word of the suite's own."""
    against = [one for one in report.json["results"] if one["verdict"] in {"fail", "not-reached", "error"}]
    lines = [line for one in against for line in one["detail"].splitlines()]
    return [*report.printed.splitlines(), *(line for line in lines if not line.startswith(("  case: ", "  again: ")))]


@pytest.mark.parametrize("name", BROKEN)
def test_no_message_is_python(name: str) -> None:
    """Whatever is wrong with a loop, what is said of it is plain words."""
    driver, cells = BROKEN[name]
    report = judged(driver, cells=cells, profiles=("core",))

    assert 20 < sum(report.counts.get(verdict, 0) for verdict in ("fail", "not-reached"))
    assert [] == sorted({line for line in told(report) if PYTHON.search(line) and "case" not in line})[:5]


@pytest.mark.parametrize(
    "line",
    [
        "because: assert (False or 1 > 1)",
        "Use -v to get more diff",
        "got <looptck.bench.run.Run object at 0x7f>",
        "expected Value(text='x')",
        " +  where 1 = len([])",
        "[('ping', {})]",
        "the request offers ['ping', 'weather']",
        "got None",
    ],
)
def test_the_search_finds_python(line: str) -> None:
    """The search itself can fail."""
    assert PYTHON.search(line)
