"""Answers of a loop that takes them only by a call of a tool of its own: some texts can be none of its answers."""

from __future__ import annotations

from collections.abc import Iterable

from looptck.provider.script import Step
from looptck.values.answer_tool import NO_ANSWER, AnswerTool
from looptck.values.verdicts import NotApplicable


def answerable(steps: Iterable[Step], answer: AnswerTool | None) -> None:
    """Raise NotApplicable if these steps have an answer that the loop cannot be given."""
    turns = [step.turn for step in steps if step.turn is not None]
    stops = sorted(turn.stopped for turn in turns if turn.text and not turn.calls and turn.stopped in NO_ANSWER)
    if answer is not None and stops:
        raise NotApplicable(
            f"the loop takes its answer by a call of {answer.tool}, so a text that stops for the reason {stops[0]} is "
            "no answer to it"
        )
