"""Loops that end too early, too late, or with a wrong answer: the seams `decide` and `stop`."""

from __future__ import annotations

from dataclasses import replace

from looptck_mutants.parts import breaks
from looptck_mutants.prompty_agent_mode.answering import otherwise
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Decision, Loop
from looptck_reference.vocabulary.actions import Action
from looptck_reference.vocabulary.dialects import CALLS_DECIDE
from looptck_reference.vocabulary.tools import Handler
from looptck_reference.vocabulary.values import ToolCall, Turn


@breaks(
    "mode-model-is-asked-until-it-answers",
    collateral={"mode-default-limit-is-ten": "a conversation without an answer ends after three rounds too"},
)
class EnoughAfterThree(Loop):
    """Ends after three rounds if the caller sets no limit."""

    def decide(self, turn: Turn) -> Decision:
        enough = self.model_calls > 3 and self.limit == self.dialect.limit
        return Decision.ANSWER if enough else super().decide(turn)


@breaks("mode-model-is-asked-until-it-answers")
class ThreeRoundsOfTools(Loop):
    """Runs tools for three rounds only, and then sends an error text as every result."""

    def handler_for(self, call: ToolCall) -> Handler | None:
        return (lambda **_: "No more tools.") if self.model_calls > 3 else super().handler_for(call)


@breaks("mode-answer-is-returned")
class FirstLineOfTheAnswer(Loop):
    """Returns only the first line of the answer."""

    def stop(self, turn: Turn) -> Action:
        return super().stop(replace(turn, text=turn.text.partition("\n")[0]))


@breaks("mode-finish-reason-tool-calls-runs-tools")
class TextBeatsFinishReason(Loop):
    """Treats text as the answer, whatever the finish reason."""

    def decide(self, turn: Turn) -> Decision:
        return Decision.ANSWER if turn.text else super().decide(turn)


@breaks("mode-other-finish-reason-is-final")
class CallsBeatFinishReason(Driver):
    """Runs calls, whatever the finish reason."""

    dialects = otherwise(runs_calls_on=CALLS_DECIDE)
