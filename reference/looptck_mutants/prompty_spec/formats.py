"""Messages, blocks and items in a wrong form: the wires' `echo` and `results`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from looptck_mutants.cells import MESSAGES, RESPONSES
from looptck_mutants.parts import breaks
from looptck_reference.vocabulary.values import Json, ToolCall, ToolResult, Turn
from looptck_reference.wires import ChatWire, MessagesWire, ResponsesWire


@breaks("spec-echoed-call-has-the-documents-form")
class ColonsTidied(ChatWire):
    """Normalizes the white space after colons in echoed arguments."""

    def echo(self, turn: Turn) -> list[Json]:
        tidied = [replace(call, arguments=re.sub(r":\s+", ": ", call.arguments)) for call in turn.calls]
        return super().echo(replace(turn, calls=tuple(tidied)))


@breaks("spec-assistant-message-format")
class ReasonEchoed(ChatWire):
    """Sends the finish reason back with the turn, a key that the service does not know."""

    def echo(self, turn: Turn) -> list[Json]:
        return [{**message, "finish_reason": "tool_calls"} for message in super().echo(turn)]


@breaks("spec-tool-message-format")
class ResultsAsLists(ChatWire):
    """Sends a list of parts instead of the text of a result."""

    def results(self, results: Sequence[ToolResult]) -> list[Json]:
        messages = super().results(results)
        return [{**one, "content": [{"type": "text", "text": one["content"]}]} for one in messages]


@breaks("spec-anthropic-keeps-all-blocks", cells=MESSAGES)
class ThoughtsKept(MessagesWire):
    """Drops the thinking of a turn that it sends back."""

    def echo(self, turn: Turn) -> list[Json]:
        spoken = tuple(block for block in turn.content if block["type"] != "thinking")
        return super().echo(replace(turn, content=spoken))


@breaks("spec-anthropic-results-share-a-message", cells=MESSAGES)
class MessageForEachResult(MessagesWire):
    """Sends each result in a separate user message."""

    def results(self, results: Sequence[ToolResult]) -> list[Json]:
        return [{"role": "user", "content": [self.result(result)]} for result in results]


@breaks("spec-responses-keeps-the-call-item", cells=RESPONSES)
class ItemIdMadeUp(ResponsesWire):
    """Makes the id of a call's item out of its `call_id`."""

    def echo(self, turn: Turn) -> list[Json]:
        items = super().echo(turn)
        return [{**item, "id": f"fc_{item['call_id']}"} if "call_id" in item else item for item in items]


@breaks("spec-responses-output-by-call-id", cells=RESPONSES)
class OutputByItemId(ResponsesWire):
    """Sends a result with the id of the call's item instead of its `call_id`."""

    def call(self, item: Json) -> ToolCall:
        return replace(super().call(item), id=item["id"])
