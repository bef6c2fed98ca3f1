"""Texts that lose something on their way: answers, arguments, results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from looptck_reference.actions import Action
from looptck_reference.dialects import FeedBack
from looptck_reference.loop import Loop
from looptck_reference.mutants.core.policies import answering
from looptck_reference.mutants.mutant import MESSAGES, RESPONSES, Mutant
from looptck_reference.tools import json_text
from looptck_reference.values import Json, Stop, ToolResult, Turn


class LastBlockAlone(Mutant):
    """Returns the last block of text for the answer: `answer-in-blocks-is-whole`."""

    breaks = ("answer-in-blocks-is-whole",)
    cells = MESSAGES

    class loop(Loop):  # noqa: N801  the driver's attribute
        def stop(self, turn: Turn) -> Action:
            texts = [block["text"] for block in turn.content if block.get("type") == "text"]
            return super().stop(replace(turn, text=texts[-1] if texts else turn.text))


class LastItemAlone(Mutant):
    """Returns the last message of a response for the answer: `answer-in-items-is-whole`."""

    breaks = ("answer-in-items-is-whole",)
    cells = RESPONSES

    class loop(Loop):  # noqa: N801
        def stop(self, turn: Turn) -> Action:
            parts = [part for item in turn.content if item.get("type") == "message" for part in item["content"][-1:]]
            return super().stop(replace(turn, text=parts[-1].get("text", turn.text) if parts else turn.text))


class AnswerStripped(Mutant):
    """Takes the blanks around the answer away: `final-text-keeps-its-blanks`."""

    breaks = ("final-text-keeps-its-blanks",)

    class loop(Loop):  # noqa: N801
        def stop(self, turn: Turn) -> Action:
            return super().stop(replace(turn, text=turn.text.strip()))


class FallsBackOnEarlierText(Mutant):
    """Returns what was said beside a call where the answer is empty: `text-before-calls-is-not-the-answer`."""

    breaks = ("text-before-calls-is-not-the-answer",)

    class loop(Loop):  # noqa: N801
        earlier = ""

        def append_turn(self, turn: Turn) -> None:
            super().append_turn(turn)
            self.earlier = turn.text or self.earlier

        def stop(self, turn: Turn) -> Action:
            return super().stop(replace(turn, text=turn.text or self.earlier))


class NothingCutIsAnAnswer(Mutant):
    """Takes a turn cut before its first word for an answer: `truncated-answer-is-told`, `filtered-answer-is-told`."""

    breaks = ("truncated-answer-is-told", "filtered-answer-is-told")

    class loop(Loop):  # noqa: N801
        def stop(self, turn: Turn) -> Action:
            return super().stop(turn if turn.text or not turn.stop.cut else replace(turn, stop=Stop.END))


class FinalAnswerCutOut(Mutant):
    """Returns what stands behind the words "Final Answer": `final-text-is-returned`."""

    breaks = ("final-text-is-returned",)

    class loop(Loop):  # noqa: N801
        def stop(self, turn: Turn) -> Action:
            return super().stop(replace(turn, text=turn.text.rpartition("Final Answer:")[2]))


class DoneInAResult(Mutant):
    """Ends with the result in which stands that it is done: `loop-goes-on-until-the-model-answers`."""

    breaks = ("loop-goes-on-until-the-model-answers",)

    class loop(Loop):  # noqa: N801
        def _close_round(self, results: Sequence[ToolResult]) -> Action:
            done = [result.text for result in results if "TERMINATE" in result.text]
            return self.stop(Turn(text=done[0])) if done else super()._close_round(results)


class ErrorWordsAreFailures(Mutant):
    """Marks a result as failed that begins with the word for it: `failed-results-are-marked`."""

    breaks = ("failed-results-are-marked",)
    cells = MESSAGES

    class loop(Loop):  # noqa: N801
        def append_results(self, results: Sequence[ToolResult]) -> None:
            super().append_results([replace(one, failed=one.failed or one.text.startswith("Error")) for one in results])


class TemplatesInResultsFilled(Mutant):
    """Fills what looks like places of a template in results: `text-result-arrives-unchanged`."""

    breaks = ("text-result-arrives-unchanged",)
    dialects = answering(result_text=lambda value: json_text(value).replace("{{question}}", "Go."))


class ArgumentsStripped(Mutant):
    """Takes the blanks around texts in arguments away: `arguments-arrive-whatever-their-shape`."""

    breaks = ("arguments-arrive-whatever-their-shape",)

    class loop(Loop):  # noqa: N801
        def parse_arguments(self, text: str) -> Json:
            parsed = super().parse_arguments(text)
            return {name: one.strip() if isinstance(one, str) else one for name, one in parsed.items()}


class ResultsStripped(Mutant):
    """Takes the blanks around results away: `text-result-arrives-unchanged`."""

    breaks = ("text-result-arrives-unchanged",)
    dialects = answering(result_text=lambda value: json_text(value).strip())


class FalsyIsNothing(Mutant):
    """Gives the model nothing of zero and false: `structured-result-reaches-the-model`."""

    breaks = ("structured-result-reaches-the-model",)
    dialects = answering(result_text=lambda value: json_text(value) if value else "")


class OnlyTheMessageTold(Mutant):
    """Answers a call whose tool raised with the error's message, though it be empty: `raising-tool-is-not-lost`."""

    breaks = ("raising-tool-is-not-lost",)
    dialects = answering(tool_raises=FeedBack("{message}"))


class OneUnknownToolTold(Mutant):
    """Tells of the first tool that it does not know and of no other: `unknown-tool-is-not-lost`."""

    breaks = ("unknown-tool-is-not-lost",)

    class loop(Loop):  # noqa: N801
        told = False

        def append_results(self, results: Sequence[ToolResult]) -> None:
            unknown = [result for result in results if result.name not in self.tools]
            kept = [replace(one, text="Done.") if self.told and one in unknown else one for one in results]
            self.told = self.told or bool(unknown)
            super().append_results(kept)
