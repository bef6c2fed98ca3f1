"""How many turns there are: pauses, limits, and when a loop takes a turn for its last."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from looptck_mutants.anthropic_loop.otherwise import otherwise
from looptck_mutants.cells import MESSAGES
from looptck_mutants.parts import breaks
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.actions import Action, Finish
from looptck_reference.loop.agent import Agent
from looptck_reference.loop.loop import Decision, Loop
from looptck_reference.loop.values import Answer, Stop, ToolCall, Turn


@breaks("claude-model-is-asked-until-it-answers", cells=MESSAGES)
class ThirdToolEnds(Loop):
    """Takes a turn that calls a third tool for the last."""

    called: frozenset[str] = frozenset()

    def decide(self, turn: Turn) -> Decision:
        earlier, names = self.called, {call.name for call in turn.calls}
        self.called = earlier | names
        return Decision.ANSWER if len(earlier) > 1 and not names <= earlier else super().decide(turn)


@breaks("claude-answer-is-returned", cells=MESSAGES)
class AllTextIsTheAnswer(Loop):
    """Answers with what the model said before its calls, too."""

    said = ""

    def append_turn(self, turn: Turn) -> None:
        super().append_turn(turn)
        self.said += turn.text if turn.calls else ""

    def stop(self, turn: Turn) -> Action:
        return super().stop(replace(turn, text=self.said + turn.text))


@breaks("claude-paused-turn-is-resumed", cells=MESSAGES)
class PausedTextAnswers(Loop):
    """Takes the text of a paused turn for the answer."""

    def decide(self, turn: Turn) -> Decision:
        return Decision.ANSWER if turn.stop is Stop.PAUSE else super().decide(turn)


@breaks("claude-paused-turn-is-resumed", cells=MESSAGES)
class EmptyMessageAfterPause(Loop):
    """Answers a paused turn with a user message that holds nothing."""

    def append_turn(self, turn: Turn) -> None:
        super().append_turn(turn)
        if turn.stop is Stop.PAUSE:
            self.append_results([])


@breaks("claude-pauses-are-bounded", cells=MESSAGES)
class PausesCountForNothing(Loop):
    """Counts no paused turn against its limit."""

    def append_turn(self, turn: Turn) -> None:
        super().append_turn(turn)
        self.model_calls -= turn.stop is Stop.PAUSE


@breaks("claude-default-limit-is-ten", cells=MESSAGES)
class DozenByDefault(Driver):
    """Asks the model twelve times where it was given no limit."""

    dialects = otherwise(limit=12)


@breaks("claude-limit-counts-model-calls", cells=MESSAGES)
class ZeroIsNoLimit(Loop):
    """Takes the limit 0 for none."""

    def __init__(self, agent: Agent, *, limit: int | None = None, **options: Any) -> None:
        super().__init__(agent, limit=limit or None, **options)


@breaks("claude-last-turn-runs-its-tools", cells=MESSAGES)
class LastCallsUnrun(Loop):
    """Runs no tools once the model cannot be told of them."""

    def calls_of(self, turn: Turn) -> tuple[ToolCall, ...]:
        return () if self.limit_reached() else turn.calls


@breaks("claude-answer-in-the-last-turn-is-returned", cells=MESSAGES)
class LastAnswerLost(Loop):
    """Looks at its limit before it looks for an answer."""

    def stop(self, turn: Turn) -> Action:
        return self.ask() if self.limit_reached() else super().stop(turn)


@breaks("claude-limit-is-an-error", cells=MESSAGES)
class TextAtTheLimit(Loop):
    """Answers with the text of the last turn at its limit."""

    said = ""

    def append_turn(self, turn: Turn) -> None:
        super().append_turn(turn)
        self.said = turn.text

    def ask(self) -> Action:
        return Finish(Answer(self.said)) if self.limit_reached() else super().ask()
