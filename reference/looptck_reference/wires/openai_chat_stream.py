"""OpenAI Chat Completions: an event stream becomes a turn.

The service sends each call under an `index`: the first delta of an index has id, type and name, later ones only
pieces of the arguments. Servers that call themselves compatible repeat the id in each delta, leave the index out,
start at 1, cut names, or send two calls under one index and tell them apart by id. So a delta belongs to the call
that has its index and, where it carries an id, that id; a new id is a new call.

A stream is whole once a finish reason has come: `[DONE]` may be missing and does not replace it.

Pieces are collected in lists and joined once, and arguments are parsed by nobody before they are whole, so that the
work is linear in the length of the stream.
"""

from __future__ import annotations

import json
from typing import Any

from looptck_reference.errors import MalformedReply, StreamBroken
from looptck_reference.values import Delta, Json, ToolCall, Turn
from looptck_reference.wires.openai_chat_turn import call_parts, chat_turn, refuse_error, refuse_unsupported
from looptck_reference.wires.text import joined

__all__ = ["ChatStream"]


class PartialCall:
    """A call of which more may come."""

    __slots__ = ("arguments", "id", "name")

    def __init__(self, call_id: str) -> None:
        self.id = call_id
        self.name: list[str] = []
        self.arguments: list[str] = []

    def whole(self) -> ToolCall:
        """The call, once nothing more can come."""
        return ToolCall(self.id, joined(self.name), joined(self.arguments))


class ChatStream:
    """Collects one stream."""

    def __init__(self) -> None:
        self.complete = False
        self._text: list[str] = []
        self._refusal: list[str] = []
        self._calls: list[PartialCall] = []
        self._by_id: dict[tuple[Any, str], PartialCall] = {}
        self._latest: dict[Any, PartialCall] = {}
        self._finish_reason: str | None = None
        self._usage: Json | None = None

    def add(self, data: str) -> Delta:
        """Take the data of one event.

        Raises:
            StreamBroken: it is not a JSON object.
            ProviderError: it is an error object.
        """
        if self.complete or data.startswith("[DONE]"):
            self.complete = True
            return Delta()
        event = _parsed(data)
        refuse_error(event)
        self._usage = event.get("usage") or self._usage
        # The usage event, and the first event of some servers, have no choices at all.
        text = "".join([self._choice(choice) for choice in event.get("choices") or () if not choice.get("index")])
        return Delta(text, bool(self._calls))

    def close(self) -> Turn:
        """The turn.

        Raises:
            StreamBroken: there was no finish reason, so nobody knows what is missing.
        """
        if self._finish_reason is None:
            raise StreamBroken("the stream ended before a finish_reason came; nothing of the turn was used")
        return chat_turn(
            content=joined(self._text),
            refusal=joined(self._refusal),
            calls=[call.whole() for call in self._calls],
            finish_reason=self._finish_reason,
            usage=self._usage,
        )

    def _choice(self, choice: Json) -> str:
        """Take one choice of one event; return the text that it added."""
        self._finish_reason = self._finish_reason or choice.get("finish_reason")
        delta = choice.get("delta") or {}
        refuse_unsupported(delta)
        for call in delta.get("tool_calls") or ():
            self.add_call(call)
        return self.add_text(delta.get("content") or "", delta.get("refusal") or "")

    def add_text(self, content: str, refusal: str) -> str:
        """Keep a piece of text; return what the caller may see of it."""
        if not isinstance(content, str):
            raise MalformedReply(f"the content of a delta is no text: {content!r:.200}")
        if content:
            self._text.append(content)
        if refusal:
            self._refusal.append(refusal)
        return content + refusal

    def add_call(self, delta: Json) -> None:
        """Keep a piece of a call."""
        call_id, name, arguments = call_parts(delta)
        index = delta.get("index")
        repeated = (index, call_id) in self._by_id
        call = self.call_for(index, call_id)
        # A server that repeats the id repeats the name too; one that cuts the name sends the id once.
        if name and not (repeated and name == "".join(call.name)):
            call.name.append(name)
        if arguments:
            call.arguments.append(arguments)

    def call_for(self, index: Any, call_id: str) -> PartialCall:
        """The call that a delta with this index and id, either of which may be missing, continues or begins."""
        call = self._by_id.get((index, call_id)) if call_id else self._latest_at(index)
        if call is None and call_id and (latest := self._latest.get(index)) is not None and not latest.id:
            call, latest.id = latest, call_id
        if call is None:
            call = PartialCall(call_id)
            self._calls.append(call)
        if call_id:
            self._by_id[index, call_id] = call
        self._latest[index] = call
        return call

    def _latest_at(self, index: Any) -> PartialCall | None:
        if index is None:
            return self._calls[-1] if self._calls else None
        return self._latest.get(index)


def _parsed(data: str) -> Json:
    try:
        event = json.loads(data)
    except ValueError as error:
        raise StreamBroken(f"an event of the stream is not JSON ({error}): {data:.200}") from error
    if not isinstance(event, dict):
        raise StreamBroken(f"an event of the stream is no JSON object: {data:.200}")
    return event
