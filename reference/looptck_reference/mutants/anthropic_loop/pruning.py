"""Which rounds a pruned request keeps: the seam `remembered`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from looptck_reference.actions import Action
from looptck_reference.agent import Agent
from looptck_reference.loop import Loop
from looptck_reference.mutants.mutant import MESSAGES, Mutant, because
from looptck_reference.values import Json, Turn


class QuestionPruned(Mutant):
    """Prunes the user's question with the rounds: `claude-pruning-keeps-the-prompt`."""

    breaks = ("claude-pruning-keeps-the-prompt",)
    cells = MESSAGES

    class loop(Loop):  # noqa: N801  the driver's attribute
        def remembered(self) -> Sequence[Json]:
            kept = super().remembered()
            pruned = self.keep_rounds and len(kept) < len(self.history)
            return [{"role": "user", "content": "(pruned)"}, *kept[1:]] if pruned else kept


class OneRoundTooFew(Mutant):
    """Keeps one round less than it is to keep where there are more: `claude-pruning-keeps-the-latest-rounds`."""

    breaks = ("claude-pruning-keeps-the-latest-rounds",)
    cells = MESSAGES

    class loop(Loop):  # noqa: N801
        def remembered(self) -> Sequence[Json]:
            prompt, *ends = self.round_ends
            if not self.keep_rounds or self.keep_rounds >= len(ends):
                return super().remembered()
            return [*self.history[:prompt], *self.history[ends[-self.keep_rounds] :]]


class OneRoundTooMany(Mutant):
    """Keeps one round more than it is to keep: `claude-pruning-drops-older-rounds`."""

    breaks = ("claude-pruning-drops-older-rounds",)
    cells = MESSAGES

    class loop(Loop):  # noqa: N801
        def __init__(self, agent: Agent, *, keep_rounds: int | None = None, **options: Any) -> None:
            super().__init__(agent, keep_rounds=keep_rounds and keep_rounds + 1, **options)


class NoneKeepsAll(Mutant):
    """Keeps all rounds where it is to keep none, as `list[-0:]` does: `claude-pruning-to-none-drops-all`."""

    breaks = ("claude-pruning-to-none-drops-all",)
    also = because("all rounds are older than the latest none", "claude-pruning-drops-older-rounds")
    cells = MESSAGES

    class loop(Loop):  # noqa: N801
        def __init__(self, agent: Agent, *, keep_rounds: int | None = None, **options: Any) -> None:
            super().__init__(agent, keep_rounds=keep_rounds or None, **options)


class TextsOfNoneStay(Mutant):
    """Leaves the texts of the rounds where it is to keep none: `claude-pruning-to-none-drops-all`."""

    breaks = ("claude-pruning-to-none-drops-all",)
    cells = MESSAGES

    class loop(Loop):  # noqa: N801
        def remembered(self) -> Sequence[Json]:
            kept = super().remembered()
            if self.keep_rounds != 0:
                return kept
            old = self.history[self.round_ends[0] : self.round_ends[-1]]
            texts = [block for message in old for block in message["content"] if block["type"] == "text"]
            said = [{"role": "user", "content": texts}] if texts else []
            return [*kept[: self.round_ends[0]], *said, *kept[self.round_ends[0] :]]


class FourRoundsAtMost(Mutant):
    """Keeps four rounds where it is to keep more: `claude-pruning-beyond-the-rounds-drops-none`."""

    breaks = ("claude-pruning-beyond-the-rounds-drops-none",)
    cells = MESSAGES

    class loop(Loop):  # noqa: N801
        def __init__(self, agent: Agent, *, keep_rounds: int | None = None, **options: Any) -> None:
            super().__init__(agent, keep_rounds=keep_rounds and min(keep_rounds, 4), **options)


class OldResultsAlonePruned(Mutant):
    """Prunes old results and leaves their calls: `claude-pruning-leaves-no-orphan`."""

    breaks = ("claude-pruning-leaves-no-orphan",)
    also = because("the calls that it leaves are of older rounds", "claude-pruning-drops-older-rounds")
    cells = MESSAGES

    class loop(Loop):  # noqa: N801
        def remembered(self) -> Sequence[Json]:
            if self.keep_rounds is None:
                return self.history
            _, *ends = self.round_ends
            old = {end - 1 for end in ends[: max(0, len(ends) - self.keep_rounds)]}
            return [message for place, message in enumerate(self.history) if place not in old]


class PrunedMessagesEmptied(Mutant):
    """Leaves old messages in their places and empties them: `claude-pruning-leaves-no-orphan`."""

    breaks = ("claude-pruning-leaves-no-orphan",)
    cells = MESSAGES

    class loop(Loop):  # noqa: N801
        def remembered(self) -> Sequence[Json]:
            kept, prompt = super().remembered(), self.round_ends[0]
            old = self.history[prompt : prompt + len(self.history) - len(kept)]
            return [*kept[:prompt], *({**message, "content": []} for message in old), *kept[prompt:]]


class PruningToldInTheAnswer(Mutant):
    """Tells its caller of pruning in the answer: `claude-pruning-changes-no-tool-run`."""

    breaks = ("claude-pruning-changes-no-tool-run",)
    cells = MESSAGES

    class loop(Loop):  # noqa: N801
        def stop(self, turn: Turn) -> Action:
            pruned = len(self.remembered()) < len(self.history)
            return super().stop(replace(turn, text=f"{turn.text} (pruned)") if pruned else turn)
