"""No check fails a loop that resumes few paused turns, or that offers nothing for which the service would pause one."""

from __future__ import annotations

import pytest

from looptck.values.verdicts import AGAINST
from looptck_reference.kit.driver import Driver
from meta.loops import pausing
from meta.loops.judging import judged

PRUNING = [
    "claude-pruning-beyond-the-rounds-drops-none",
    "claude-pruning-changes-no-tool-run",
    "claude-pruning-drops-older-rounds",
    "claude-pruning-keeps-the-latest-rounds",
    "claude-pruning-keeps-the-prompt",
    "claude-pruning-leaves-no-orphan",
]
PROFILES = ["core", "anthropic-loop"]
PAUSES = ["claude-pauses-are-bounded", "claude-paused-turn-is-resumed", "paused-turn-is-resumed", "pauses-are-finite"]


@pytest.mark.parametrize("loop", [pausing.Unpaused, pausing.ResumesFiveTimes])
def test_pruning_fails_nothing(loop: type[Driver]) -> None:
    """Rounds are pruned in the same way, with whatever turns led to them."""
    results = judged(loop, "anthropic-messages/*/sync", profile="anthropic-loop", requirements=PRUNING, examples=5)

    assert [] == [(one.requirement, one.case, one.reason) for one in results if one.verdict in AGAINST]
    assert set(PRUNING) == {one.requirement for one in results if one.verdict == "pass"}


def test_pauses_are_judged_by_what_a_loop_offers() -> None:
    """A loop that offers no tool of the service has no verdict on them; one that resumes five times passes."""
    verdicts = {}
    for loop in [pausing.Unpaused, pausing.ResumesFiveTimes]:
        cells = [judged(loop, "anthropic-messages/plain/sync", profile=one, requirements=PAUSES) for one in PROFILES]
        verdicts[loop] = {result.verdict for results in cells for result in results}

    assert {"not-applicable"} == verdicts[pausing.Unpaused]
    assert {"pass", "divergence"} == verdicts[pausing.ResumesFiveTimes]
