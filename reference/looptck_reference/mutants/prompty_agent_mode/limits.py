"""Limits of another number, with another error, or that strike elsewhere: `limit_reached` and what stands around it."""

from __future__ import annotations

from collections.abc import Sequence

from looptck_reference.actions import Action
from looptck_reference.dialects import Raise
from looptck_reference.loop import Loop
from looptck_reference.mutants.mutant import Mutant
from looptck_reference.mutants.prompty_agent_mode.answering import otherwise
from looptck_reference.values import ToolCall, Turn


class LastChance(Mutant):
    """Lets the model answer once more than a caller's limit allows: `mode-limit-counts-cycles`."""

    breaks = ("mode-limit-counts-cycles",)

    class loop(Loop):  # noqa: N801  the driver's attribute
        def limit_reached(self) -> bool:
            callers = self.limit != self.dialect.limit
            return self.model_calls > self.limit if callers else super().limit_reached()

        def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
            return () if self.model_calls > self.limit else super().calls_of(turn)


class TwelveByDefault(Mutant):
    """Asks twelve times where nobody set a limit: `mode-default-limit-is-ten`."""

    breaks = ("mode-default-limit-is-ten",)
    dialects = otherwise(limit=12)


class LastCycleRunsNothing(Mutant):
    """Does not run the tools of the last cycle: `mode-last-cycle-runs-its-tools`."""

    breaks = ("mode-last-cycle-runs-its-tools",)

    class loop(Loop):  # noqa: N801
        def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
            return () if self.limit_reached() else super().calls_of(turn)


class LimitBeforeAnswer(Mutant):
    """Gives up at its limit though the last reply was an answer: `mode-answer-in-the-last-cycle-is-returned`."""

    breaks = ("mode-answer-in-the-last-cycle-is-returned",)

    class loop(Loop):  # noqa: N801
        def stop(self, turn: Turn) -> Action:
            return self._ask() if self.limit_reached() else super().stop(turn)


class RuntimeErrorAtTheLimit(Mutant):
    """Raises what the other document of the same project wants: `mode-limit-raises-value-error`."""

    breaks = ("mode-limit-raises-value-error",)
    dialects = otherwise(limit_error=Raise(RuntimeError, "Agent loop exceeded max_iterations ({limit})"))


class OtherWordsAtTheLimit(Mutant):
    """Gives up in words of its own: `mode-limit-error-has-the-documents-text`."""

    breaks = ("mode-limit-error-has-the-documents-text",)
    dialects = otherwise(limit_error=Raise(ValueError, "max_iterations reached: {limit}"))
