"""Loops that end too early, too late, or with something else: the seams `decide` and `stop`."""

from __future__ import annotations

from dataclasses import replace

from looptck_reference.actions import Action
from looptck_reference.dialects import CALLS_DECIDE
from looptck_reference.loop import Loop
from looptck_reference.mutants.mutant import Mutant, because
from looptck_reference.mutants.prompty_agent_mode.answering import otherwise
from looptck_reference.seams import Decision
from looptck_reference.tools import Handler
from looptck_reference.values import ToolCall, Turn


class EnoughAfterThree(Mutant):
    """Has enough after three rounds where nobody set a limit: `mode-model-is-asked-until-it-answers`."""

    breaks = ("mode-model-is-asked-until-it-answers",)
    also = because("an endless conversation ends after three rounds too", "mode-default-limit-is-ten")

    class loop(Loop):  # noqa: N801  the driver's attribute
        def decide(self, turn: Turn) -> Decision:
            enough = self.model_calls > 3 and self.limit == self.dialect.limit
            return Decision.ANSWER if enough else super().decide(turn)


class ThreeRoundsOfTools(Mutant):
    """Runs tools for three rounds, and then tells the model to do without: `mode-model-is-asked-until-it-answers`."""

    breaks = ("mode-model-is-asked-until-it-answers",)

    class loop(Loop):  # noqa: N801
        def handler_for(self, call: ToolCall) -> Handler | None:
            return (lambda **_: "No more tools.") if self.model_calls > 3 else super().handler_for(call)


class FirstLineOfTheAnswer(Mutant):
    """Returns the first line of the answer: `mode-answer-is-returned`."""

    breaks = ("mode-answer-is-returned",)

    class loop(Loop):  # noqa: N801
        def stop(self, turn: Turn) -> Action:
            return super().stop(replace(turn, text=turn.text.partition("\n")[0]))


class TextBeatsFinishReason(Mutant):
    """Takes text for the answer, whatever the finish reason says: `mode-finish-reason-tool-calls-runs-tools`."""

    breaks = ("mode-finish-reason-tool-calls-runs-tools",)

    class loop(Loop):  # noqa: N801
        def decide(self, turn: Turn) -> Decision:
            return Decision.ANSWER if turn.text else super().decide(turn)


class CallsBeatFinishReason(Mutant):
    """Runs calls whatever the finish reason says: `mode-other-finish-reason-is-final`."""

    breaks = ("mode-other-finish-reason-is-final",)
    dialects = otherwise(runs_calls_on=CALLS_DECIDE)
