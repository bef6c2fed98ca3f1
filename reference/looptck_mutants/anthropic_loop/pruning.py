"""The rounds that a pruned request keeps: the seam `remembered`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from looptck_mutants.cells import MESSAGES
from looptck_mutants.core import pruning
from looptck_mutants.parts import breaks
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.actions import Action
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.values import Json, Turn


@breaks("claude-pruning-keeps-the-prompt", cells=MESSAGES)
class QuestionPruned(pruning.QuestionPrunedToo):
    """Prunes the user's question together with the rounds."""


@breaks("claude-pruning-keeps-the-latest-rounds", cells=MESSAGES)
class OneRoundTooFew(pruning.LastRoundPruned):
    """Keeps one round fewer than configured."""


@breaks("claude-pruning-keeps-the-latest-rounds", cells=MESSAGES)
class ResultsShortened(Loop):
    """Sends of the results that it keeps only the first 100 characters."""

    def remembered(self) -> Sequence[Json]:
        kept = super().remembered()
        return kept if self.keep_rounds is None else [_shortened(item) for item in kept]


def _shortened(item: Json) -> Json:
    blocks = item["content"]
    if not isinstance(blocks, list):
        return item
    cut = [
        {**block, "content": block["content"][:100]} if block["type"] == "tool_result" else block for block in blocks
    ]
    return {**item, "content": cut}


@breaks("claude-pruning-drops-older-rounds", cells=MESSAGES)
class OneRoundTooMany(Loop):
    """Keeps one round more than configured."""

    def __init__(self, agent: Agent, *, keep_rounds: int | None = None, **options: Any) -> None:
        super().__init__(agent, keep_rounds=keep_rounds and keep_rounds + 1, **options)


@breaks("claude-pruning-beyond-the-rounds-drops-none", cells=MESSAGES)
class FourRoundsAtMost(Loop):
    """Keeps at most four rounds, even if more are configured."""

    def __init__(self, agent: Agent, *, keep_rounds: int | None = None, **options: Any) -> None:
        super().__init__(agent, keep_rounds=keep_rounds and min(keep_rounds, 4), **options)


@breaks(
    "claude-pruning-leaves-no-orphan",
    collateral={"claude-pruning-drops-older-rounds": "the remaining calls are of older rounds"},
    cells=MESSAGES,
)
class OldResultsAlonePruned(Loop):
    """Prunes old results, but keeps their calls."""

    def remembered(self) -> Sequence[Json]:
        if self.keep_rounds is None:
            return self.history
        _, *ends = self.round_ends
        old = {end - 1 for end in ends[: max(0, len(ends) - self.keep_rounds)]}
        return [message for place, message in enumerate(self.history) if place not in old]


@breaks("claude-pruning-changes-no-tool-run", cells=MESSAGES)
class PruningToldInTheAnswer(Loop):
    """Mentions the pruning in the answer."""

    def stop(self, turn: Turn) -> Action:
        pruned = len(self.remembered()) < len(self.history)
        return super().stop(replace(turn, text=f"{turn.text} (pruned)") if pruned else turn)
