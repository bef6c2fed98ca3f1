"""Reports on rounds to the client: the data of progress events, and the entries of `agentic_tool_calls`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar
from uuid import uuid4

from looptck_mutants.cells import CHAT, CHAT_STREAM, MESSAGES_STREAM, RESPONSES_STREAM
from looptck_mutants.server_loop.parts import breaks
from looptck_reference.server.api.chat import ChatFrames
from looptck_reference.server.api.messages import MessagesFrames
from looptck_reference.server.api.responses_stream import ResponsesFrames
from looptck_reference.server.events import Event, NamedEvent, Phase, Progress
from looptck_reference.server.loop import ServerLoop
from looptck_reference.server.steps import Finish
from looptck_reference.server.values import Called, Record
from looptck_reference.vocabulary.values import Json, Turn


@breaks(
    "server-plain-reply-records-each-round",
    collateral={"server-plain-and-stream-record-alike": "the events of a stream have the arguments"},
)
class RecordsForgetArguments(ServerLoop):
    """Records every call without arguments."""

    def _entry(self, record: Record) -> Json:
        return {**super()._entry(record), "arguments": "{}"}


@breaks("server-plain-reply-records-each-round", cells=CHAT)
class RecordsOfTheSession(ServerLoop):
    """Records the rounds of the session's earlier requests again."""

    before: ClassVar[dict[str, tuple[Json, ...]]] = {}

    def finish(self, turn: Turn, *, capped: bool = False) -> Finish:
        step, session = super().finish(turn, capped=capped), self.session_id or ""
        told = (*self.before.get(session, ()), *(step.answer.tool_calls or ()))
        self.before[session] = told
        return replace(step, answer=replace(step.answer, tool_calls=told))


@breaks(
    "server-progress-stands-around-each-run",
    collateral={
        (
            "server-complete-follows-each-run",
            "server-failing-tool-counts-as-a-round",
            "server-files-come-before-complete",
            "server-complete-of-code-tells-the-code",
            "server-complete-of-code-tells-where-and-how-long",
            "server-complete-of-search-tells-query-and-count",
            "server-progress-is-told-on-responses",
            "server-progress-is-told-on-messages",
        ): "their checks count the events of runs, or read `complete`"
    },
    cells=CHAT_STREAM,
)
class CompleteIsMissing(ServerLoop):
    """Sends no `complete` events."""

    def events_after(self, record: Record) -> Sequence[Event]:
        return [event for event in super().events_after(record) if not isinstance(event, Progress)]


@breaks(
    "server-calling-names-the-tool",
    collateral={"server-plain-and-stream-record-alike": "their checks find the events of a run by its tool's name"},
    cells=CHAT_STREAM,
)
class CallingNamesTheTypeOfTool(ServerLoop):
    """Names the type of a tool instead of its name in `calling` events."""

    def _progress(self, called: Called, phase: Phase, data: Json) -> Progress:
        event = super()._progress(called, phase, data)
        return replace(event, tool_name=called.tool_type) if phase == "calling" else event


@breaks(
    "server-calling-arguments-are-parsed",
    collateral={
        (
            "server-calling-carries-the-arguments",
            "server-plain-and-stream-record-alike",
        ): "their checks read the arguments of calling events"
    },
    cells=CHAT_STREAM,
)
class CallingQuotesItsArguments(ServerLoop):
    """Sends the arguments in `calling` events as the JSON text of a JSON text."""

    def _progress(self, called: Called, phase: Phase, data: Json) -> Progress:
        as_text = {"arguments": json.dumps(called.call.arguments)} if phase == "calling" and "arguments" in data else {}
        return super()._progress(called, phase, {**data, **as_text})


@breaks("server-complete-of-custom-repeats-the-arguments", cells=CHAT_STREAM)
class CompleteForgetsValues(ServerLoop):
    """Repeats only the names of the arguments of custom tools in `complete`."""

    def _progress(self, called: Called, phase: Phase, data: Json) -> Progress:
        return super()._progress(called, phase, data if phase == "calling" else _valueless(data))


def _valueless(data: Mapping[str, Any]) -> Json:
    return {**data, "arguments": dict.fromkeys(data["arguments"])} if "arguments" in data else {**data}


@breaks(
    "server-rounds-are-numbered-from-zero",
    collateral={"server-plain-and-stream-record-alike": "files name their rounds, and checks find events by round"},
    cells=(*CHAT, *CHAT_STREAM),
)
class RoundsBeginWithOne(ServerLoop):
    """Numbers the rounds from 1."""

    def _progress(self, called: Called, phase: Phase, data: Json) -> Progress:
        return replace(super()._progress(called, phase, data), round=self.round + 1)

    def _entry(self, record: Record) -> Json:
        return {**super()._entry(record), "round": record.round + 1}


@breaks("server-records-tell-the-result")
class RecordsAreAscii(ServerLoop):
    """Removes characters beyond ASCII from recorded results."""

    def _entry(self, record: Record) -> Json:
        entry = super()._entry(record)
        return {**entry, "result_content": entry["result_content"].encode("ascii", "ignore").decode()}


@breaks("server-chunks-are-unnamed-and-progress-is-named", cells=CHAT_STREAM)
class ChunksHaveNames(ChatFrames):
    """Sends Chat Completions chunks with an event name."""

    def _chunk(self, delta: Json, finish_reason: str | None = None, **more: object) -> bytes:
        return b"event: chat.completion.chunk\n" + super()._chunk(delta, finish_reason, **more)


@breaks("server-chunks-share-their-id", cells=CHAT_STREAM)
class EachChunkHasAnId(ChatFrames):
    """Draws a new id for each Chat Completions chunk."""

    def _chunk(self, delta: Json, finish_reason: str | None = None, **more: object) -> bytes:
        return super()._chunk(delta, finish_reason, id=f"chatcmpl-{uuid4().hex}", **more)


@breaks(
    "server-progress-is-told-on-responses",
    collateral={
        (
            "server-progress-stands-around-each-run",
            "server-calling-comes-before-the-run",
            "server-complete-follows-each-run",
        ): "their checks count the events of runs on every wire"
    },
    cells=RESPONSES_STREAM,
)
class ResponsesHideProgress(ResponsesFrames):
    """Sends no progress events in Responses streams."""

    def agentic_event(self, event: NamedEvent) -> list[bytes]:
        return [] if isinstance(event, Progress) else super().agentic_event(event)


@breaks("server-progress-is-told-on-messages", cells=MESSAGES_STREAM)
class MessagesStartLate(MessagesFrames):
    """Sends `message_start` only before the first event that is not an agentic one."""

    started = False

    def start(self) -> list[bytes]:
        return []

    def frames(self, event: Event) -> list[bytes]:
        if self.started or isinstance(event, Progress):
            return super().frames(event)
        self.started = True
        return [*super().start(), *super().frames(event)]
