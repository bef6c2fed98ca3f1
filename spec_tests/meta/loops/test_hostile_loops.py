"""Wrong arguments are the loop's fault: no check crashes because a tool got nonsense."""

from __future__ import annotations

import pytest

from looptck.values.verdicts import AGAINST
from looptck_reference.agent_loop_010.driver import Driver
from meta.loops import hostile
from meta.loops.judging import judged

REQUIREMENTS = (
    "loop010-call-order-carries-no-meaning",
    "loop010-input-expressions",
    "loop010-instances-stay-apart",
    "loop010-last-to-complete-wins",
    "loop010-latent-calls-write-their-output",
    "loop010-methods-fold-in-order",
    "loop010-output-expressions",
    "loop010-returned-messages-are-appended",
    "loop010-schedules-do-not-matter",
    "loop010-structural-errors-run-nothing",
)
"""The requirements whose checks read tool arguments."""


@pytest.mark.parametrize(
    ("loop", "stands"),
    [
        (hostile.HandsNothing, set()),
        (hostile.HandsWrappings, set()),
        (hostile.HandsWrappingsToOthers, {"loop010-methods-fold-in-order"}),
    ],
)
def test_nonsense_is_judged(loop: type[Driver], stands: set[str]) -> None:
    """Every requirement has a verdict against the loop, except the one that reads only the arguments of its probes."""
    results = judged(loop, "openai-chat/plain/async", profile="agent-loop-010", requirements=REQUIREMENTS)

    against = {result.requirement for result in results if result.verdict in AGAINST}
    assert stands == set(REQUIREMENTS) - against
