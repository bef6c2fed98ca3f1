"""The number of turns: pauses, limits, and the decision which turn is the last."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from looptck_mutants.anthropic_loop.otherwise import otherwise
from looptck_mutants.cells import MESSAGES
from looptck_mutants.core import limits
from looptck_mutants.parts import breaks
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Decision, Loop
from looptck_reference.vocabulary.actions import Action, Finish
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.values import Answer, Stop, ToolCall, Turn


@breaks("claude-model-is-asked-until-it-answers", cells=MESSAGES)
class ThirdToolEnds(Loop):
    """Treats a turn that calls a third tool as the last."""

    called: frozenset[str] = frozenset()

    def decide(self, turn: Turn) -> Decision:
        earlier, names = self.called, {call.name for call in turn.calls}
        self.called = earlier | names
        return Decision.ANSWER if len(earlier) > 1 and not names <= earlier else super().decide(turn)


@breaks("claude-answer-is-returned", cells=MESSAGES)
class AllTextIsTheAnswer(Loop):
    """Returns the text before calls as part of the answer."""

    said = ""

    def append_turn(self, turn: Turn) -> None:
        super().append_turn(turn)
        self.said += turn.text if turn.calls else ""

    def stop(self, turn: Turn) -> Action:
        return super().stop(replace(turn, text=self.said + turn.text))


@breaks("claude-paused-turn-is-resumed", cells=MESSAGES)
class PausedTextAnswers(Loop):
    """Returns the text of a paused turn as the answer."""

    def decide(self, turn: Turn) -> Decision:
        return Decision.ANSWER if turn.stop is Stop.PAUSE else super().decide(turn)


@breaks("claude-paused-turn-is-resumed", cells=MESSAGES)
class EmptyMessageAfterPause(Loop):
    """Sends an empty user message after a paused turn."""

    def append_turn(self, turn: Turn) -> None:
        super().append_turn(turn)
        if turn.stop is Stop.PAUSE:
            self.append_results([])


@breaks("claude-pauses-are-bounded", cells=MESSAGES)
class PausesCountForNothing(Loop):
    """Does not count paused turns against its limit."""

    def append_turn(self, turn: Turn) -> None:
        super().append_turn(turn)
        self.model_calls -= turn.stop is Stop.PAUSE


@breaks("claude-default-limit-is-ten", cells=MESSAGES)
class DozenByDefault(Driver):
    """Asks the model twelve times by default, without a configured limit."""

    dialects = otherwise(limit=12)


@breaks("claude-limit-counts-model-calls", cells=MESSAGES)
class ZeroIsNoLimit(Loop):
    """Treats the limit 0 as no limit."""

    def __init__(self, agent: Agent, *, limit: int | None = None, **options: Any) -> None:
        super().__init__(agent, limit=limit or None, **options)


@breaks("claude-limit-counts-model-calls", cells=MESSAGES)
class FailedTurnsAreFree(limits.FailedRoundsAreFree):
    """Counts no turn whose calls have all failed against its limit."""


@breaks("claude-last-turn-runs-its-tools", cells=MESSAGES)
class LastCallsUnrun(Loop):
    """Does not run tools in the last round, whose results the model would not see."""

    def calls_of(self, turn: Turn) -> tuple[ToolCall, ...]:
        return () if self.limit_reached() else turn.calls


@breaks("claude-answer-in-the-last-turn-is-returned", cells=MESSAGES)
class LastAnswerLost(Loop):
    """Fails at its limit even if the last turn is an answer."""

    def stop(self, turn: Turn) -> Action:
        return self.ask() if self.limit_reached() else super().stop(turn)


@breaks("claude-limit-is-an-error", cells=MESSAGES)
class TextAtTheLimit(Loop):
    """Returns the text of the last turn as the answer when it reaches its limit."""

    said = ""

    def append_turn(self, turn: Turn) -> None:
        super().append_turn(turn)
        self.said = turn.text

    def ask(self) -> Action:
        return Finish(Answer(self.said)) if self.limit_reached() else super().ask()
