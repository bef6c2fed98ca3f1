"""OpenAI Chat Completions: an event stream becomes a turn.

The service sends each call under an `index`: the first delta of an index has id, type and name, later ones only pieces
of the arguments. Compatible servers repeat the id in each delta, leave the index out, start at 1, split names, or send
two calls under one index with different ids. So a delta belongs to the call with its index and, if it has an id, that
id; a new id is a new call. Some end the calls with a delta under a new index that says nothing.

A stream is complete once a finish reason has come: `[DONE]` may be missing and does not replace it.
"""

from __future__ import annotations

from typing import Any

from looptck_reference.vocabulary.values import Delta, Json, ToolCall, Turn
from looptck_reference.wires.events import NOTHING, EventStream
from looptck_reference.wires.openai_chat_turn import call_extra, call_parts, chat_turn, refuse_unsupported
from looptck_reference.wires.text import joined, text_at

__all__ = ["ChatStream"]


class PartialCall:
    """An unfinished call."""

    __slots__ = ("arguments", "extra", "id", "name", "told")

    def __init__(self, call_id: str) -> None:
        self.id = call_id
        self.name: list[str] = []
        self.arguments: list[str] = []
        self.extra: Json = {}
        self.told = 0
        """How many pieces of the arguments the caller has been told: none before the id is known."""

    def whole(self) -> ToolCall:
        """The complete call."""
        return ToolCall(self.id, joined(self.name), joined(self.arguments), self.extra)


class ChatStream(EventStream):
    """Collects one stream."""

    end = "a finish_reason came"

    def __init__(self) -> None:
        super().__init__()
        self._text: list[str] = []
        self._refusal: list[str] = []
        self._reasoning: list[str] = []
        self._details: list[Json] = []
        self._calls: list[PartialCall] = []
        self._by_id: dict[tuple[Any, str], PartialCall] = {}
        self._latest: dict[Any, PartialCall] = {}
        self._finish_reason: str | None = None
        self.usage: Json | None = None

    def add(self, data: str) -> Delta:
        """Take the data of one event. Some servers send null to keep the connection alive."""
        return NOTHING if data == "null" else super().add(data)

    def done(self) -> None:
        """On this wire it is the end mark."""
        self.complete = True

    def take(self, event: Json) -> str:
        """Handle one event; the usage event, and the first event of some servers, have no choices."""
        self.count(event.get("usage"))
        return "".join([self._choice(choice) for choice in event.get("choices") or () if not choice.get("index")])

    def count(self, usage: Json | None) -> None:
        """Keep the usage. Compatible servers send it in any chunk, or in each of them for the stream so far."""
        self.usage = usage or self.usage

    def whole(self) -> bool:
        """Whether a finish reason has come."""
        return self._finish_reason is not None

    def turn(self) -> Turn:
        """The collected turn."""
        return chat_turn(
            content=joined(self._text),
            refusal=joined(self._refusal),
            reasoning=joined(self._reasoning),
            details=self._details,
            calls=[call.whole() for call in self._calls],
            finish_reason=self._finish_reason,
            usage=self.usage,
        )

    def _choice(self, choice: Json) -> str:
        """Take one choice of one event; return the text that it added."""
        self._finish_reason = self._finish_reason or choice.get("finish_reason")
        delta = choice.get("delta") or {}
        refuse_unsupported(delta)
        if reasoning := text_at(delta, "reasoning_content"):
            self._reasoning.append(reasoning)
        self._details += delta.get("reasoning_details") or ()
        for call in delta.get("tool_calls") or ():
            self.add_call(call)
        return self.add_text(text_at(delta, "content"), text_at(delta, "refusal"))

    def add_text(self, content: str, refusal: str) -> str:
        """Keep a piece of text; return what the caller may see of it."""
        if content:
            self._text.append(content)
        if refusal:
            self._refusal.append(refusal)
        return content + refusal

    def add_call(self, delta: Json) -> None:
        """Keep a piece of a call; one that says nothing begins none."""
        call_id, name, arguments = call_parts(delta)
        index = delta.get("index")
        if not (call_id or name or arguments or self._latest_at(index)):
            return
        repeated = (index, call_id) in self._by_id
        call = self.call_for(index, call_id)
        # A server that repeats the id repeats the name too; one that splits the name sends the id once.
        if name and not (repeated and name == "".join(call.name)):
            call.name.append(name)
        if arguments:
            call.arguments.append(arguments)
        if call.id:
            self.write(call.id, joined(call.arguments[call.told :]))
            call.told = len(call.arguments)
        call.extra.update(call_extra(delta))

    def call_for(self, index: Any, call_id: str) -> PartialCall:
        """The call to which a delta with this index and id belongs; either may be missing."""
        call = self._by_id.get((index, call_id)) if call_id else self._latest_at(index)
        if call is None and call_id and (latest := self._latest.get(index)) is not None and not latest.id:
            call, latest.id = latest, call_id
        if call is None:
            call = PartialCall(call_id)
            self._calls.append(call)
            self.calling = True
        if call_id:
            self._by_id[index, call_id] = call
        self._latest[index] = call
        return call

    def _latest_at(self, index: Any) -> PartialCall | None:
        if index is None:
            return self._calls[-1] if self._calls else None
        return self._latest.get(index)
