"""No check of ``agent-loop-010`` fails a loop that is correct but chooses differently."""

from __future__ import annotations

import pytest

from looptck.values.verdicts import AGAINST
from looptck_reference.agent_loop_010.driver import Driver
from meta.loops import solving_ways
from meta.loops.judging import judged

LOOPS = [solving_ways.Careful, solving_ways.Brisk]


@pytest.mark.parametrize("loop", LOOPS)
def test_loop_fails_nothing(loop: type[Driver]) -> None:
    """Each of the two makes several choices of its own at once."""
    results = judged(loop, "openai-chat/stream/async", profile="agent-loop-010")

    assert [] == [(result.requirement, result.case, result.reason) for result in results if result.verdict in AGAINST]
    assert sum(result.verdict == "pass" for result in results) > 200
