"""What a pruned request keeps of its prompt and of its rounds: the seam `remembered`."""

from __future__ import annotations

from collections.abc import Sequence

from looptck_mutants.breaking import Collateral
from looptck_mutants.cells import CHAT, RESPONSES
from looptck_mutants.parts import breaks
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.values import Json

REFUSED: Collateral = {"no-request-is-refused": "the service refuses a result without its call"}


@breaks("pruned-history-has-no-orphan", collateral=REFUSED, cells=CHAT + RESPONSES)
class PrunedByMessage(Loop):
    """Prunes message by message: of the oldest round that it keeps, the first message with a call is gone."""

    def remembered(self) -> Sequence[Json]:
        kept = list(super().remembered())
        if len(kept) < len(self.history):
            calls = [one for one in kept if "tool_calls" in one or one.get("type") == "function_call"]
            kept = [one for one in kept if one is not calls[0]] if calls else kept
        return kept


@breaks("pruned-history-has-no-orphan", cells=RESPONSES)
class ReasoningStays(Loop):
    """Keeps the reasoning of the rounds that it prunes."""

    def remembered(self) -> Sequence[Json]:
        prompt, kept = self.round_ends[0], super().remembered()
        older = self.history[prompt : len(self.history) - (len(kept) - prompt)]
        return [*kept[:prompt], *(item for item in older if item.get("type") == "reasoning"), *kept[prompt:]]


@breaks("pruned-history-keeps-the-prompt", cells=CHAT)
class QuestionPrunedToo(Loop):
    """Prunes the user's question together with the rounds."""

    def remembered(self) -> Sequence[Json]:
        kept = super().remembered()
        pruned = self.keep_rounds and len(kept) < len(self.history)
        return [{"role": "user", "content": "(pruned)"}, *kept[1:]] if pruned else kept


@breaks("pruned-history-keeps-the-last-round", cells=CHAT)
class LastRoundPruned(Loop):
    """Keeps one round fewer than configured, and of one none."""

    def remembered(self) -> Sequence[Json]:
        prompt, *ends = self.round_ends
        if not self.keep_rounds or self.keep_rounds >= len(ends):
            return super().remembered()
        return [*self.history[:prompt], *self.history[ends[-self.keep_rounds] :]]
