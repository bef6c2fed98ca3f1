"""Texts that lose something on their way: answers, arguments, results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from looptck_mutants.cells import MESSAGES, RESPONSES
from looptck_mutants.core.policies import answering
from looptck_mutants.parts import breaks
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.actions import Action
from looptck_reference.loop.dialects import FeedBack
from looptck_reference.loop.loop import Loop
from looptck_reference.loop.tools import json_text
from looptck_reference.loop.values import Json, Stop, ToolResult, Turn


@breaks("answer-in-blocks-is-whole", cells=MESSAGES)
class LastBlockAlone(Loop):
    """Returns the last block of text for the answer."""

    def stop(self, turn: Turn) -> Action:
        texts = [block["text"] for block in turn.content if block.get("type") == "text"]
        return super().stop(replace(turn, text=texts[-1] if texts else turn.text))


@breaks("answer-in-items-is-whole", cells=RESPONSES)
class LastItemAlone(Loop):
    """Returns the last message of a response for the answer."""

    def stop(self, turn: Turn) -> Action:
        parts = [part for item in turn.content if item.get("type") == "message" for part in item["content"][-1:]]
        return super().stop(replace(turn, text=parts[-1].get("text", turn.text) if parts else turn.text))


@breaks("final-text-keeps-its-blanks")
class AnswerStripped(Loop):
    """Takes the blanks around the answer away."""

    def stop(self, turn: Turn) -> Action:
        return super().stop(replace(turn, text=turn.text.strip()))


@breaks("text-before-calls-is-not-the-answer")
class FallsBackOnEarlierText(Loop):
    """Returns what was said beside a call where the answer is empty."""

    earlier = ""

    def append_turn(self, turn: Turn) -> None:
        super().append_turn(turn)
        self.earlier = turn.text or self.earlier

    def stop(self, turn: Turn) -> Action:
        return super().stop(replace(turn, text=turn.text or self.earlier))


@breaks("truncated-answer-is-told", "filtered-answer-is-told")
class NothingCutIsAnAnswer(Loop):
    """Takes a turn cut before its first word for an answer."""

    def stop(self, turn: Turn) -> Action:
        return super().stop(turn if turn.text or not turn.stop.truncated else replace(turn, stop=Stop.END))


@breaks("final-text-is-returned")
class FinalAnswerCutOut(Loop):
    """Returns what stands behind the words "Final Answer"."""

    def stop(self, turn: Turn) -> Action:
        return super().stop(replace(turn, text=turn.text.rpartition("Final Answer:")[2]))


@breaks("loop-goes-on-until-the-model-answers")
class DoneInAResult(Loop):
    """Ends with the result in which stands that it is done."""

    def close_round(self, results: Sequence[ToolResult]) -> Action:
        done = [result.text for result in results if "TERMINATE" in result.text]
        return self.stop(Turn(text=done[0])) if done else super().close_round(results)


@breaks("failed-results-are-marked", cells=MESSAGES)
class ErrorWordsAreFailures(Loop):
    """Marks a result as failed that begins with the word for it."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results([replace(one, failed=one.failed or one.text.startswith("Error")) for one in results])


@breaks("text-result-arrives-unchanged")
class TemplatesInResultsFilled(Driver):
    """Fills what looks like places of a template in results."""

    dialects = answering(result_text=lambda value: json_text(value).replace("{{question}}", "Go."))


@breaks("arguments-arrive-whatever-their-shape")
class ArgumentsStripped(Loop):
    """Takes the blanks around texts in arguments away."""

    def parse_arguments(self, text: str) -> Json:
        parsed = super().parse_arguments(text)
        return {name: one.strip() if isinstance(one, str) else one for name, one in parsed.items()}


@breaks("text-result-arrives-unchanged")
class ResultsStripped(Driver):
    """Takes the blanks around results away."""

    dialects = answering(result_text=lambda value: json_text(value).strip())


@breaks("structured-result-reaches-the-model")
class FalsyIsNothing(Driver):
    """Gives the model nothing of zero and false."""

    dialects = answering(result_text=lambda value: json_text(value) if value else "")


@breaks("raising-tool-is-not-lost")
class OnlyTheMessageTold(Driver):
    """Answers a call whose tool raised with the error's message, though it be empty."""

    dialects = answering(tool_raises=FeedBack("{message}"))


@breaks("unknown-tool-is-not-lost")
class OneUnknownToolTold(Loop):
    """Tells of the first tool that it does not know and of no other."""

    told = False

    def append_results(self, results: Sequence[ToolResult]) -> None:
        unknown = [result for result in results if result.name not in self.tools]
        kept = [replace(one, text="Done.") if self.told and one in unknown else one for one in results]
        self.told = self.told or bool(unknown)
        super().append_results(kept)
