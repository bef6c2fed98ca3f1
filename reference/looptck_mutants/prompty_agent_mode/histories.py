"""Turns and results that the next request carries with changes: `append_turn`, `append_results`, the wire."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from looptck_mutants.parts import breaks
from looptck_mutants.prompty_agent_mode.answering import otherwise
from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.values import Json, ToolResult, Turn
from looptck_reference.wires import ChatWire


@breaks("mode-each-request-carries-all-messages")
class AsksWithTheLastRound(Loop):
    """Sends only the prompt and the last round."""

    def append_turn(self, turn: Turn) -> None:
        self.history = self.wire.opening(self.agent.messages)
        super().append_turn(turn)


@breaks("mode-turn-is-appended-as-it-came")
class TextBesideCallsLost(Loop):
    """Appends the calls of a turn without its text."""

    def append_turn(self, turn: Turn) -> None:
        pieces = tuple(piece for piece in turn.content if piece.get("type") not in {"text", "message"})
        super().append_turn(replace(turn, text="", content=pieces))


@breaks("mode-echoed-call-is-the-models-own")
class ArgumentsRespelled(ChatWire):
    """Formats the arguments of a call anew before it sends them back."""

    def echo(self, turn: Turn) -> list[Json]:
        calls = [replace(call, arguments=call.arguments.replace(": ", ":")) for call in turn.calls]
        return super().echo(replace(turn, calls=tuple(calls)))


@breaks("mode-one-result-for-each-call")
class OneResultForATool(Loop):
    """Sends the last result of a tool for all calls of that tool."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        texts = {result.name: result.text for result in results}
        super().append_results([replace(result, text=texts[result.name]) for result in results])


@breaks("mode-tool-message-format")
class ResultInParts(ChatWire):
    """Sends a result as a list of content parts."""

    def results(self, results: Sequence[ToolResult]) -> list[Json]:
        messages = super().results(results)
        return [{**one, "content": [{"type": "text", "text": one["content"]}]} for one in messages]


@breaks("mode-result-is-the-tools-text")
class ModeZeroIsNothing(Driver):
    """Sends an empty text for a result that is falsy."""

    dialects = otherwise(result_text=lambda value: str(value or ""))
