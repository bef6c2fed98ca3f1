"""Limits that do not hold: the seam `limit_reached`, the counting of calls, and the end of a run at its limit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from looptck_mutants.cells import CHAT
from looptck_mutants.parts import breaks
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.actions import Action, Fail, Finish
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.values import Answer, ToolResult, Turn


@breaks(
    "limit-is-a-ceiling",
    "loop-is-finite-by-default",
    collateral={
        "limit-of-zero-runs-no-tool": "0 is a limit too",
        "pauses-are-finite": "the limit ends pauses",
        "endless-subagent-ends": "the limit ends sub-agents too",
        "limit-counts-all-agents": "the limit ends what agents do together",
    },
)
class NoLimit(Loop):
    """Asks the model without a limit."""

    def limit_reached(self) -> bool:
        return False


@breaks(
    "limit-is-a-ceiling",
    collateral={
        "limit-of-zero-runs-no-tool": "one model call is one round of tools",
        "limit-counts-all-agents": "the limit is one for all agents",
    },
)
class OneTooMany(Loop):
    """Asks the model once more than its limit allows."""

    def limit_reached(self) -> bool:
        return self.model_calls > self.limit


@breaks("limit-is-a-ceiling")
class FailedRoundsAreFree(Loop):
    """Counts no round whose calls have all failed against its limit."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results(results)
        self.model_calls -= all(result.failed for result in results)


@breaks("limit-allows-what-fits")
class OneTooFew(Loop):
    """Stops one model call before its limit."""

    def limit_reached(self) -> bool:
        return self.model_calls >= self.limit - 1


@breaks("limit-allows-what-fits")
class EachCallCounts(Loop):
    """Counts each call of a round against its limit."""

    def count(self, turn: Turn) -> None:
        super().count(turn)
        self.model_calls += max(0, len(turn.calls) - 1)


@breaks(
    "limit-allows-what-fits",
    cells=CHAT,
    collateral={"shared-agent-runs-apart": "a later run of the agent begins at its limit"},
)
class OneLimitForAllRuns(Loop):
    """Counts the model calls of all runs of an agent object against the limit of each."""

    asked: ClassVar[dict[int, tuple[Agent, list[Turn]]]] = {}
    """By the identity of the agent, which is kept with it."""

    def __init__(self, agent: Agent, **options: Any) -> None:
        super().__init__(agent, **options)
        _, self._all = self.asked.setdefault(id(agent), (agent, []))

    def count(self, turn: Turn) -> None:
        super().count(turn)
        self._all.append(turn)

    def limit_reached(self) -> bool:
        return len(self._all) >= self.limit


@breaks("limit-reached-is-told")
class LimitIsAnAnswer(Loop):
    """Returns an empty answer at its limit."""

    def ask(self) -> Action:
        action = super().ask()
        return Finish(Answer("")) if isinstance(action, Fail) else action


@breaks("limit-reached-is-told")
class LimitIsAMistake(Loop):
    """Raises an unrelated IndexError at its limit."""

    def ask(self) -> Action:
        action = super().ask()
        mistake = IndexError("list index out of range")
        return Fail(mistake, "provider") if isinstance(action, Fail) else action


@breaks("limit-of-one-answers")
class AnswerNeedsRoom(Loop):
    """Fails at its limit although the last turn is an answer without calls."""

    def stop(self, turn: Turn) -> Action:
        no_round_yet = len(self.round_ends) == 1
        return self.ask() if no_round_yet and self.limit_reached() else super().stop(turn)


@breaks("limit-of-zero-runs-no-tool")
class ZeroIsNone(Loop):
    """Treats a limit of 0 as no limit from the caller."""

    def __init__(self, agent: Agent, *, limit: int | None = None, **more: Any) -> None:
        super().__init__(agent, limit=limit or None, **more)
