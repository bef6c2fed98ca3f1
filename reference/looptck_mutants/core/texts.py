"""Texts that lose characters: answers, arguments, results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from looptck_mutants.cells import CHAT, MESSAGES, RESPONSES
from looptck_mutants.core.policies import answering
from looptck_mutants.parts import breaks
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.actions import Action
from looptck_reference.vocabulary.tools import json_text
from looptck_reference.vocabulary.values import Json, Stop, ToolResult, Turn


@breaks("answer-in-blocks-is-whole", cells=MESSAGES)
class LastBlockAlone(Loop):
    """Returns only the last text block as the answer."""

    def stop(self, turn: Turn) -> Action:
        texts = [block["text"] for block in turn.content if block.get("type") == "text"]
        return super().stop(replace(turn, text=texts[-1] if texts else turn.text))


@breaks("answer-in-items-is-whole", cells=RESPONSES)
class LastItemAlone(Loop):
    """Returns only the last message item as the answer."""

    def stop(self, turn: Turn) -> Action:
        parts = [part for item in turn.content if item.get("type") == "message" for part in item["content"][-1:]]
        return super().stop(replace(turn, text=parts[-1].get("text", turn.text) if parts else turn.text))


@breaks("continued-answer-is-whole", cells=CHAT)
class RestIsTheAnswer(Loop):
    """Asks for the rest of an answer that was cut, and returns the rest alone."""

    def model_answered(self, turn: Turn) -> Action:
        if turn.calls or not turn.text or turn.stop is not Stop.LENGTH:
            return super().model_answered(turn)
        self.append_answer(turn)
        return self._enter(self.ask())


@breaks("final-text-keeps-its-blanks")
class AnswerStripped(Loop):
    """Strips white space from the answer."""

    def stop(self, turn: Turn) -> Action:
        return super().stop(replace(turn, text=turn.text.strip()))


@breaks("loop-goes-on-until-the-model-answers")
class DoneInAResult(Loop):
    """Ends the run after a result that says that the work is done."""

    def close_round(self, results: Sequence[ToolResult]) -> Action:
        done = [result.text for result in results if "TERMINATE" in result.text]
        return self.stop(Turn(text=done[0])) if done else super().close_round(results)


@breaks("failed-results-are-marked", cells=MESSAGES)
class ErrorWordsAreFailures(Loop):
    """Marks a result as failed if its text begins with the word "Error"."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results([replace(one, failed=one.failed or one.text.startswith("Error")) for one in results])


@breaks("failed-results-are-marked", cells=MESSAGES)
class NothingIsAFailure(Loop):
    """Marks a result as failed if it is null or has no text."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results([replace(one, failed=one.failed or one.text in {"", "null"}) for one in results])


@breaks("text-result-arrives-unchanged")
class ResultsStripped(Driver):
    """Strips white space from results."""

    dialects = answering(result_text=lambda value: json_text(value).strip())


def _first_bytes(value: object) -> str:
    text = json_text(value)
    return text if len(text) < 30_000 else text.encode()[:100_000].decode(errors="replace") + "\n[truncated]"


@breaks("long-result-is-cut-between-characters")
class ResultsCutByBytes(Driver):
    """Cuts a long result at a number of bytes, and says so."""

    dialects = answering(result_text=_first_bytes)


@breaks(
    "arguments-arrive-whatever-their-shape",
    collateral={"open-schemas-are-offered": "its check has a member of an open object that is null"},
)
class NullsDropped(Loop):
    """Drops arguments that are null."""

    def parse_arguments(self, text: str) -> Json:
        return {name: one for name, one in super().parse_arguments(text).items() if one is not None}


@breaks(
    "structured-result-reaches-the-model",
    collateral={"empty-collections-reach-the-model": "an empty collection is falsy"},
)
class FalsyIsNothing(Driver):
    """Sends an empty result for zero and false."""

    dialects = answering(result_text=lambda value: json_text(value) if value else "")


def _stumbling(value: object) -> str:
    return f"Error: cannot convert {json_text(value)} to text" if isinstance(value, dict) else json_text(value)


@breaks("structured-result-reaches-the-model")
class ObjectsAreErrors(Driver):
    """Sends an error about an object in place of the object, which the error's message repeats."""

    dialects = answering(result_text=_stumbling)


@breaks(
    "structured-result-reaches-the-model",
    collateral={"failed-results-are-marked": "the object in its check, which tells of a failure, is none"},
    cells=MESSAGES,
)
class ObjectsAreFailures(Loop):
    """Marks a result that is an object as failed."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results([replace(one, failed=one.failed or one.text.startswith("{")) for one in results])


@breaks("structured-result-reaches-the-model")
class MessageIsTheResult(Driver):
    """Sends of an object that has a message the message alone."""

    dialects = answering(
        result_text=lambda value: (
            value["message"] if isinstance(value, dict) and "message" in value else json_text(value)
        )
    )


def _shallow(value: object, level: int = 0) -> object:
    if not isinstance(value, (dict, list)):
        return value
    if level > 4:
        return "…"
    if isinstance(value, dict):
        return {name: _shallow(one, level + 1) for name, one in value.items()}
    return [_shallow(one, level + 1) for one in value]


@breaks("structured-result-reaches-the-model")
class DeepIsCut(Driver):
    """Sends a sign for what lies deeper than five levels in a result."""

    dialects = answering(result_text=lambda value: json_text(_shallow(value)))


@breaks("unknown-tool-is-not-lost")
class OneUnknownToolTold(Loop):
    """Reports only the first of several unknown tools."""

    reported = False

    def append_results(self, results: Sequence[ToolResult]) -> None:
        unknown = [result for result in results if result.name not in self.tools]
        kept = [replace(one, text="Done.") if self.reported and one in unknown else one for one in results]
        self.reported = self.reported or bool(unknown)
        super().append_results(kept)


@breaks("answer-without-calls-ends-the-loop", "final-text-is-returned", cells=CHAT)
class NothingAsJsonIsNone(Loop):
    """Asks again after an answer that is nothing as JSON."""

    def model_answered(self, turn: Turn) -> Action:
        again = turn.text in {"null", "[]"} and not turn.calls
        return self._enter(self.ask()) if again else super().model_answered(turn)
