"""The rows about pruning pass loops that keep the promise in another way than by removing whole rounds."""

from __future__ import annotations

import pytest

from looptck_reference.kit.driver import Driver
from meta.loops.forgetting import ClearsOldResults, NotesWhatIsGone
from meta.loops.judging import judged

CLAUDE = ["claude-pruning-keeps-the-prompt", "claude-pruning-drops-older-rounds"]


@pytest.mark.parametrize(
    ("loop", "cell", "profile", "rows"),
    [
        (ClearsOldResults, "anthropic-messages/plain/sync", "anthropic-loop", CLAUDE),
        (NotesWhatIsGone, "anthropic-messages/plain/sync", "anthropic-loop", CLAUDE),
        (NotesWhatIsGone, "openai-chat/plain/sync", "core", ["pruned-history-keeps-the-prompt"]),
    ],
)
def test_another_way_to_prune_passes(loop: type[Driver], cell: str, profile: str, rows: list[str]) -> None:
    """A cleared result is no part of the request any more, and a note beside the question takes nothing away."""
    results = judged(loop, cell, profile=profile, requirements=rows)

    assert {(row, "pass") for row in rows} == {(result.requirement, result.verdict) for result in results}
