"""Messages, blocks and items that are not of the document's form: the wires' `echo` and `results`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from looptck_reference.mutants.mutant import MESSAGES, RESPONSES, Mutant
from looptck_reference.mutants.speaking import speaking
from looptck_reference.values import Json, ToolCall, ToolResult, Turn
from looptck_reference.wires import ChatWire, MessagesWire, ResponsesWire


class ColonsTidied(Mutant):
    """Writes one blank behind the colons of echoed arguments: `spec-echoed-call-has-the-documents-form`."""

    breaks = ("spec-echoed-call-has-the-documents-form",)

    class Wire(ChatWire):
        def echo(self, turn: Turn) -> list[Json]:
            tidied = [replace(call, arguments=re.sub(r":\s+", ": ", call.arguments)) for call in turn.calls]
            return super().echo(replace(turn, calls=tuple(tidied)))

    wires = speaking(chat=Wire())


class ReasonEchoed(Mutant):
    """Sends the finish reason with the turn, a key that the service does not know: `spec-assistant-message-format`."""

    breaks = ("spec-assistant-message-format",)

    class Wire(ChatWire):
        def echo(self, turn: Turn) -> list[Json]:
            return [{**message, "finish_reason": "tool_calls"} for message in super().echo(turn)]

    wires = speaking(chat=Wire())


class ResultsAsLists(Mutant):
    """Sends a list of parts where the text of a result is due: `spec-tool-message-format`."""

    breaks = ("spec-tool-message-format",)

    class Wire(ChatWire):
        def results(self, results: Sequence[ToolResult]) -> list[Json]:
            messages = super().results(results)
            return [{**one, "content": [{"type": "text", "text": one["content"]}]} for one in messages]

    wires = speaking(chat=Wire())


class ThoughtsKept(Mutant):
    """Leaves the thinking out of the turn that it sends back: `spec-anthropic-keeps-all-blocks`."""

    breaks = ("spec-anthropic-keeps-all-blocks",)
    cells = MESSAGES

    class Wire(MessagesWire):
        def echo(self, turn: Turn) -> list[Json]:
            spoken = tuple(block for block in turn.content if block["type"] != "thinking")
            return super().echo(replace(turn, content=spoken))

    wires = speaking(messages=Wire())


class MessageForEachResult(Mutant):
    """Sends each result in a user message of its own: `spec-anthropic-results-share-a-message`."""

    breaks = ("spec-anthropic-results-share-a-message",)
    cells = MESSAGES

    class Wire(MessagesWire):
        def results(self, results: Sequence[ToolResult]) -> list[Json]:
            return [{"role": "user", "content": [self.result(result)]} for result in results]

    wires = speaking(messages=Wire())


class ItemIdDropped(Mutant):
    """Sends the item of a call back without its id: `spec-responses-keeps-the-call-item`."""

    breaks = ("spec-responses-keeps-the-call-item",)
    cells = RESPONSES

    class Wire(ResponsesWire):
        def echo(self, turn: Turn) -> list[Json]:
            return [{name: one for name, one in item.items() if name != "id"} for item in super().echo(turn)]

    wires = speaking(responses=Wire())


class OutputByItemId(Mutant):
    """Sends an output under the id of the call's item: `spec-responses-output-by-call-id`."""

    breaks = ("spec-responses-output-by-call-id",)
    cells = RESPONSES

    class Wire(ResponsesWire):
        def call(self, item: Json) -> ToolCall:
            return replace(super().call(item), id=item["id"])

    wires = speaking(responses=Wire())
