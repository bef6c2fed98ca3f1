"""Limits with a wrong number, a wrong error or at a wrong point: `limit_reached` and related steps."""

from __future__ import annotations

from collections.abc import Sequence

from looptck_mutants.core import limits
from looptck_mutants.parts import breaks
from looptck_mutants.prompty_agent_mode.answering import otherwise
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.actions import Action
from looptck_reference.vocabulary.dialects import Raise
from looptck_reference.vocabulary.values import ToolCall, Turn


@breaks("mode-limit-counts-cycles")
class LastChance(Loop):
    """Asks the model once more after the caller's limit."""

    def limit_reached(self) -> bool:
        callers = self.limit != self.dialect.limit
        return self.model_calls > self.limit if callers else super().limit_reached()

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        return () if self.model_calls > self.limit else super().calls_of(turn)


@breaks("mode-limit-counts-cycles")
class ModeEachCallCounts(limits.EachCallCounts):
    """Counts each call of a cycle against its limit."""


@breaks("mode-default-limit-is-ten")
class TwelveByDefault(Driver):
    """Asks the model twelve times if the caller sets no limit."""

    dialects = otherwise(limit=12)


@breaks("mode-last-cycle-runs-its-tools")
class LastCycleRunsNothing(Loop):
    """Does not run the tools of the last cycle."""

    def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
        return () if self.limit_reached() else super().calls_of(turn)


@breaks("mode-answer-in-the-last-cycle-is-returned")
class LimitBeforeAnswer(Loop):
    """Fails at its limit although the last reply is an answer."""

    def stop(self, turn: Turn) -> Action:
        return self.ask() if self.limit_reached() else super().stop(turn)


@breaks("mode-limit-raises-value-error")
class RuntimeErrorAtTheLimit(Driver):
    """Raises the error type that the other Prompty document prescribes."""

    dialects = otherwise(limit_error=Raise(RuntimeError, "Agent loop exceeded max_iterations ({limit})"))


@breaks("mode-limit-error-has-the-documents-text")
class OtherWordsAtTheLimit(Driver):
    """Fails at the limit with a different text."""

    dialects = otherwise(limit_error=Raise(ValueError, "max_iterations reached: {limit}"))
