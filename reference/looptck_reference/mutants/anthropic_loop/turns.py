"""How many turns there are: pauses, limits, and when a loop takes a turn for its last."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from looptck_reference.actions import Action, Finish
from looptck_reference.agent import Agent
from looptck_reference.loop import Loop
from looptck_reference.mutants.anthropic_loop.otherwise import otherwise
from looptck_reference.mutants.mutant import MESSAGES, Mutant
from looptck_reference.seams import Decision
from looptck_reference.values import Answer, Stop, ToolCall, Turn


class ThirdToolEnds(Mutant):
    """Takes a turn that calls a third tool for the last: `claude-model-is-asked-until-it-answers`."""

    breaks = ("claude-model-is-asked-until-it-answers",)
    cells = MESSAGES

    class loop(Loop):  # noqa: N801  the driver's attribute
        called: frozenset[str] = frozenset()

        def decide(self, turn: Turn) -> Decision:
            earlier, names = self.called, {call.name for call in turn.calls}
            self.called = earlier | names
            return Decision.ANSWER if len(earlier) > 1 and not names <= earlier else super().decide(turn)


class AllTextIsTheAnswer(Mutant):
    """Answers with what the model said before its calls, too: `claude-answer-is-returned`."""

    breaks = ("claude-answer-is-returned",)
    cells = MESSAGES

    class loop(Loop):  # noqa: N801
        said = ""

        def append_turn(self, turn: Turn) -> None:
            super().append_turn(turn)
            self.said += turn.text if turn.calls else ""

        def stop(self, turn: Turn) -> Action:
            return super().stop(replace(turn, text=self.said + turn.text))


class PausedTextAnswers(Mutant):
    """Takes the text of a paused turn for the answer: `claude-paused-turn-is-resumed`."""

    breaks = ("claude-paused-turn-is-resumed",)
    cells = MESSAGES

    class loop(Loop):  # noqa: N801
        def decide(self, turn: Turn) -> Decision:
            return Decision.ANSWER if turn.stop is Stop.PAUSE else super().decide(turn)


class EmptyMessageAfterPause(Mutant):
    """Answers a paused turn with a user message that holds nothing: `claude-paused-turn-is-resumed`."""

    breaks = ("claude-paused-turn-is-resumed",)
    cells = MESSAGES

    class loop(Loop):  # noqa: N801
        def append_turn(self, turn: Turn) -> None:
            super().append_turn(turn)
            if turn.stop is Stop.PAUSE:
                self.append_results([])


class PausesCountForNothing(Mutant):
    """Counts no paused turn against its limit: `claude-pauses-are-bounded`."""

    breaks = ("claude-pauses-are-bounded",)
    cells = MESSAGES

    class loop(Loop):  # noqa: N801
        def append_turn(self, turn: Turn) -> None:
            super().append_turn(turn)
            self.model_calls -= turn.stop is Stop.PAUSE


class DozenByDefault(Mutant):
    """Asks the model twelve times where it was given no limit: `claude-default-limit-is-ten`."""

    breaks = ("claude-default-limit-is-ten",)
    cells = MESSAGES
    dialects = otherwise(limit=12)


class ZeroIsNoLimit(Mutant):
    """Takes the limit 0 for none: `claude-limit-counts-model-calls`."""

    breaks = ("claude-limit-counts-model-calls",)
    cells = MESSAGES

    class loop(Loop):  # noqa: N801
        def __init__(self, agent: Agent, *, limit: int | None = None, **options: Any) -> None:
            super().__init__(agent, limit=limit or None, **options)


class LastCallsUnrun(Mutant):
    """Runs no tools once the model cannot be told of them: `claude-last-turn-runs-its-tools`."""

    breaks = ("claude-last-turn-runs-its-tools",)
    cells = MESSAGES

    class loop(Loop):  # noqa: N801
        def calls_of(self, turn: Turn) -> tuple[ToolCall, ...]:
            return () if self.limit_reached() else turn.calls


class LastAnswerLost(Mutant):
    """Looks at its limit before it looks for an answer: `claude-answer-in-the-last-turn-is-returned`."""

    breaks = ("claude-answer-in-the-last-turn-is-returned",)
    cells = MESSAGES

    class loop(Loop):  # noqa: N801
        def stop(self, turn: Turn) -> Action:
            return self._ask() if self.limit_reached() else super().stop(turn)


class TextAtTheLimit(Mutant):
    """Answers with the text of the last turn at its limit: `claude-limit-is-an-error`."""

    breaks = ("claude-limit-is-an-error",)
    cells = MESSAGES

    class loop(Loop):  # noqa: N801
        said = ""

        def append_turn(self, turn: Turn) -> None:
            super().append_turn(turn)
            self.said = turn.text

        def _ask(self) -> Action:
            return Finish(Answer(self.said)) if self.limit_reached() else super()._ask()
