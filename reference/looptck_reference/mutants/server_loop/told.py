"""What a client is told of the rounds: the data of progress events, and the entries of `agentic_tool_calls`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from looptck_reference.mutants.mutant import CHAT, CHAT_STREAM, MESSAGES_STREAM, RESPONSES_STREAM, because
from looptck_reference.mutants.server_loop.mutant import ServerMutant
from looptck_reference.server.api.chat import ChatFrames
from looptck_reference.server.api.messages import MessagesFrames
from looptck_reference.server.api.responses_stream import ResponsesFrames
from looptck_reference.server.events import Event, NamedEvent, Phase, Progress
from looptck_reference.server.loop import AgentLoop
from looptck_reference.server.serving import Simulator
from looptck_reference.server.values import Called, Record
from looptck_reference.values import Json


class RecordsForgetArguments(ServerMutant):
    """Records every call without arguments: `server-plain-reply-records-each-round`."""

    breaks = ("server-plain-reply-records-each-round",)
    also = because("the events of a stream have them", "server-plain-and-stream-record-alike")

    class simulator(Simulator):  # noqa: N801  the bench's attribute
        class loop(AgentLoop):  # noqa: N801  the simulator's attribute
            def _entry(self, record: Record) -> Json:
                return {**super()._entry(record), "arguments": "{}"}


class CompleteIsMissing(ServerMutant):
    """Tells that tools are called, and never that they have run: `server-progress-stands-around-each-run`."""

    breaks = ("server-progress-stands-around-each-run",)
    also = because(
        "they count the events of runs, or look into complete",
        "server-complete-follows-each-run",
        "server-failing-tool-counts-as-a-round",
        "server-files-come-before-complete",
        "server-complete-of-code-tells-the-code",
        "server-complete-of-code-tells-where-and-how-long",
        "server-complete-of-search-tells-query-and-count",
        "server-progress-is-told-on-responses",
        "server-progress-is-told-on-messages",
        "server-many-streams-lose-nothing",
        "server-slow-readers-lose-nothing",
    )
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def told_after(self, record: Record) -> Sequence[Event]:
                return [event for event in super().told_after(record) if not isinstance(event, Progress)]


class CallingNamesTheTypeOfTool(ServerMutant):
    """Calls each tool by its type in events before the run: `server-calling-names-the-tool`."""

    breaks = ("server-calling-names-the-tool",)
    also = because(
        "they know the events of a run by its tool's name",
        "server-plain-and-stream-record-alike",
        "server-many-streams-lose-nothing",
    )
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def _progress(self, called: Called, phase: Phase, data: Json) -> Progress:
                event = super()._progress(called, phase, data)
                return replace(event, tool_name=called.tool_type) if phase == "calling" else event


class CallingHasArgumentsAsText(ServerMutant):
    """Tells the arguments of a call as the model wrote them: `server-calling-arguments-are-parsed`."""

    breaks = ("server-calling-arguments-are-parsed",)
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def _progress(self, called: Called, phase: Phase, data: Json) -> Progress:
                as_text = {"arguments": called.call.arguments} if phase == "calling" and "arguments" in data else {}
                return super()._progress(called, phase, {**data, **as_text})


class CompleteHasNoArguments(ServerMutant):
    """Leaves the arguments of custom tools out behind the run: `server-complete-of-custom-repeats-the-arguments`."""

    breaks = ("server-complete-of-custom-repeats-the-arguments",)
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def _progress(self, called: Called, phase: Phase, data: Json) -> Progress:
                return super()._progress(called, phase, data if phase == "calling" else _without_arguments(data))


def _without_arguments(data: Mapping[str, Any]) -> Json:
    return {name: value for name, value in data.items() if name != "arguments"}


class RoundsBeginWithOne(ServerMutant):
    """Numbers the rounds from 1 on: `server-rounds-are-numbered-from-zero`."""

    breaks = ("server-rounds-are-numbered-from-zero",)
    also = because(
        "files keep the numbers of their rounds, and events are known by theirs",
        "server-plain-and-stream-record-alike",
        "server-many-streams-lose-nothing",
        "server-slow-readers-lose-nothing",
    )
    cells = (*CHAT, *CHAT_STREAM)

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def _progress(self, called: Called, phase: Phase, data: Json) -> Progress:
                return replace(super()._progress(called, phase, data), round=self.round + 1)

            def _entry(self, record: Record) -> Json:
                return {**super()._entry(record), "round": record.round + 1}


class RecordsAreAscii(ServerMutant):
    """Records results without what is not ASCII: `server-records-tell-the-result`."""

    breaks = ("server-records-tell-the-result",)

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def _entry(self, record: Record) -> Json:
                entry = super()._entry(record)
                return {**entry, "result_content": entry["result_content"].encode("ascii", "ignore").decode()}


class ChunksHaveNames(ServerMutant):
    """Gives chunks of Chat Completions an event name: `server-chunks-are-unnamed-and-progress-is-named`."""

    breaks = ("server-chunks-are-unnamed-and-progress-is-named",)
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801
        class chat(ChatFrames):  # noqa: N801  the simulator's attribute
            def _chunk(self, delta: Json, finish_reason: str | None = None, **more: object) -> bytes:
                return b"event: chat.completion.chunk\n" + super()._chunk(delta, finish_reason, **more)


class ResponsesHideProgress(ServerMutant):
    """Tells a client of Responses nothing of the tools that run: `server-progress-is-told-on-responses`."""

    breaks = ("server-progress-is-told-on-responses",)
    also = because(
        "they count the events of runs on every wire",
        "server-progress-stands-around-each-run",
        "server-calling-comes-before-the-run",
        "server-complete-follows-each-run",
        "server-many-streams-lose-nothing",
        "server-slow-readers-lose-nothing",
    )
    cells = RESPONSES_STREAM

    class simulator(Simulator):  # noqa: N801
        class responses(ResponsesFrames):  # noqa: N801
            def told(self, event: NamedEvent) -> list[bytes]:
                return [] if isinstance(event, Progress) else super().told(event)


class MessagesStartLate(ServerMutant):
    """Starts a message with the first of it that is no event of the loop: `server-progress-is-told-on-messages`."""

    breaks = ("server-progress-is-told-on-messages",)
    cells = MESSAGES_STREAM

    class simulator(Simulator):  # noqa: N801
        class messages(MessagesFrames):  # noqa: N801
            started = False

            def start(self) -> list[bytes]:
                return []

            def frames(self, event: Event) -> list[bytes]:
                if self.started or isinstance(event, Progress):
                    return super().frames(event)
                self.started = True
                return [*super().start(), *super().frames(event)]
