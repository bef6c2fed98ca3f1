"""Nobody who reads a report has to know Python: no message holds its assertions, its reprs or our classes."""

from __future__ import annotations

import pytest

from meta.drivers.bench import judged
from meta.plain_words import PYTHON, only_python_tells

CORE = "python:looptck_mutants.core.broad:"
BROKEN = {
    "asks-nothing": ("python:meta.kit.flawed:Pretends", ("openai-chat/plain/sync",)),
    "raises": ("python:meta.kit.flawed:Refuses", ("anthropic-messages/stream/sync",)),
    "forgets-ids": (CORE + "CoreForgetsIds.driver", ("openai-responses/plain/sync",)),
    "garbles": (CORE + "CoreEchoesGarbled.driver", ("anthropic-messages/plain/sync",)),
    "runs-thrice": (CORE + "CoreRunsThrice.driver", ("openai-chat/plain/sync",)),
}
"""Loops with a fault that many requirements notice. `test_reports` has one more, which never runs a tool."""


@pytest.mark.parametrize("name", BROKEN)
def test_no_message_is_python(name: str) -> None:
    """Whatever is wrong with a loop, what is said of it is plain words."""
    driver, cells = BROKEN[name]
    report = judged(driver, cells=cells, profiles=("core",))

    assert 20 < sum(report.counts.get(verdict, 0) for verdict in ("fail", "not-reached"))
    assert [] == only_python_tells(report)


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
