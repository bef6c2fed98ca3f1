"""Limits that do not hold: the seam `limit_reached`, what is counted, and what becomes of a run at its limit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from looptck_reference.actions import Action, Fail, Finish
from looptck_reference.agent import Agent
from looptck_reference.loop import Loop
from looptck_reference.mutants.mutant import Mutant, because
from looptck_reference.values import Answer, ToolResult, Turn


class NoLimit(Mutant):
    """Asks the model for ever: `limit-is-a-ceiling`, `loop-is-finite-by-default`."""

    breaks = ("limit-is-a-ceiling", "loop-is-finite-by-default")
    also = because("0 is a limit too", "limit-of-zero-runs-no-tool") | because(
        "a limit is what ends pauses", "pauses-are-finite"
    )

    class loop(Loop):  # noqa: N801  the driver's attribute
        def limit_reached(self) -> bool:
            return False


class OneTooMany(Mutant):
    """Asks the model once more than its limit allows: `limit-is-a-ceiling`."""

    breaks = ("limit-is-a-ceiling",)
    also = because("one call of the model is one round of tools", "limit-of-zero-runs-no-tool")

    class loop(Loop):  # noqa: N801
        def limit_reached(self) -> bool:
            return self.model_calls > self.limit


class AtLeastTwo(Mutant):
    """Takes a limit of 1 for a round of tools and the answer behind it: `limit-is-a-ceiling`."""

    breaks = ("limit-is-a-ceiling",)

    class loop(Loop):  # noqa: N801
        def limit_reached(self) -> bool:
            return self.model_calls >= self.limit + (self.limit == 1)


class OneTooFew(Mutant):
    """Stops one call of the model before its limit: `limit-allows-what-fits`."""

    breaks = ("limit-allows-what-fits",)

    class loop(Loop):  # noqa: N801
        def limit_reached(self) -> bool:
            return self.model_calls >= self.limit - 1


class LimitIsAnAnswer(Mutant):
    """Returns an empty answer at its limit, as if the model had given it: `limit-reached-is-told`."""

    breaks = ("limit-reached-is-told",)

    class loop(Loop):  # noqa: N801
        def _ask(self) -> Action:
            action = super()._ask()
            return Finish(Answer("")) if isinstance(action, Fail) else action


class LimitIsAMistake(Mutant):
    """Stumbles at its limit over a reply that there is not: `limit-reached-is-told`."""

    breaks = ("limit-reached-is-told",)

    class loop(Loop):  # noqa: N801
        def _ask(self) -> Action:
            action = super()._ask()
            mistake = IndexError("list index out of range")
            return Fail(mistake, "provider") if isinstance(action, Fail) else action


class AnswerNeedsRoom(Mutant):
    """Fails with an answer that came without tools in the last turn that its limit allows: `limit-of-one-answers`."""

    breaks = ("limit-of-one-answers",)

    class loop(Loop):  # noqa: N801
        def stop(self, turn: Turn) -> Action:
            no_round_yet = len(self.round_ends) == 1
            return self._ask() if no_round_yet and self.limit_reached() else super().stop(turn)


class ZeroIsNone(Mutant):
    """Takes a limit of 0 for no limit of the caller's: `limit-of-zero-runs-no-tool`."""

    breaks = ("limit-of-zero-runs-no-tool",)

    class loop(Loop):  # noqa: N801
        def __init__(self, agent: Agent, *, limit: int | None = None, **more: Any) -> None:
            super().__init__(agent, limit=limit or None, **more)


class DefaultStartsAnew(Mutant):
    """Counts from 0 again behind each round, where it has only its default limit: `loop-is-finite-by-default`."""

    breaks = ("loop-is-finite-by-default",)

    class loop(Loop):  # noqa: N801
        def __init__(self, agent: Agent, *, limit: int | None = None, **more: Any) -> None:
            super().__init__(agent, limit=limit, **more)
            self.is_default = limit is None

        def append_results(self, results: Sequence[ToolResult]) -> None:
            super().append_results(results)
            if self.is_default:
                self.model_calls = 0
