"""Turns and results that the next request does not carry as they were: `append_turn`, `append_results`, the wire."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from looptck_reference.loop import Loop
from looptck_reference.mutants.mutant import Mutant
from looptck_reference.mutants.prompty_agent_mode.answering import otherwise
from looptck_reference.mutants.speaking import speaking
from looptck_reference.values import Json, ToolResult, Turn
from looptck_reference.wires import ChatWire


class AsksWithTheLastRound(Mutant):
    """Asks with the prompt and the last round: `mode-each-request-carries-all-messages`."""

    breaks = ("mode-each-request-carries-all-messages",)

    class loop(Loop):  # noqa: N801  the driver's attribute
        def append_turn(self, turn: Turn) -> None:
            self.history = self.wire.opening(self.agent.messages)
            super().append_turn(turn)


class TextBesideCallsLost(Mutant):
    """Appends the calls of a turn and drops its text: `mode-turn-is-appended-as-it-came`."""

    breaks = ("mode-turn-is-appended-as-it-came",)

    class loop(Loop):  # noqa: N801
        def append_turn(self, turn: Turn) -> None:
            pieces = tuple(piece for piece in turn.content if piece.get("type") not in {"text", "message"})
            super().append_turn(replace(turn, text="", content=pieces))


class ArgumentsRespelled(Mutant):
    """Writes the arguments of a call anew before they go back: `mode-echoed-call-is-the-models-own`."""

    breaks = ("mode-echoed-call-is-the-models-own",)

    class Wire(ChatWire):
        def echo(self, turn: Turn) -> list[Json]:
            calls = [replace(call, arguments=call.arguments.replace(": ", ":")) for call in turn.calls]
            return super().echo(replace(turn, calls=tuple(calls)))

    wires = speaking(chat=Wire())


class OneResultForATool(Mutant):
    """Gives all calls of one tool the result of the last: `mode-one-result-for-each-call`."""

    breaks = ("mode-one-result-for-each-call",)

    class loop(Loop):  # noqa: N801
        def append_results(self, results: Sequence[ToolResult]) -> None:
            texts = {result.name: result.text for result in results}
            super().append_results([replace(result, text=texts[result.name]) for result in results])


class ResultInParts(Mutant):
    """Sends a result as a list of parts: `mode-tool-message-format`."""

    breaks = ("mode-tool-message-format",)

    class Wire(ChatWire):
        def results(self, results: Sequence[ToolResult]) -> list[Json]:
            messages = super().results(results)
            return [{**one, "content": [{"type": "text", "text": one["content"]}]} for one in messages]

    wires = speaking(chat=Wire())


class ResultInOneLine(Mutant):
    """Sends a result in one line: `mode-result-is-the-tools-text`."""

    breaks = ("mode-result-is-the-tools-text",)
    dialects = otherwise(result_text=lambda value: " ".join(str(value).split()))
