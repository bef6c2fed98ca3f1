"""The end of streams, and differences between streams and plain replies: frames, and loops that depend on the form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from looptck_mutants.cells import CHAT_STREAM, RESPONSES_STREAM
from looptck_mutants.server_loop.parts import breaks
from looptck_reference.server.api.chat import ChatFrames
from looptck_reference.server.api.responses_stream import ResponsesFrames
from looptck_reference.server.errors import Refused
from looptck_reference.server.events import Event, TextPiece
from looptck_reference.server.loop import ServerLoop
from looptck_reference.server.values import Answer, Record
from looptck_reference.vocabulary.values import Json, Stop, Turn


@breaks("server-every-stream-ends-explicitly", cells=CHAT_STREAM)
class CutAnswersHaveNoEnd(ChatFrames):
    """Sends no `[DONE]` after an answer that the token limit truncated."""

    def end(self, answer: Answer) -> list[bytes]:
        return super().end(answer)[: -1 if answer.stop is Stop.LENGTH else None]


@breaks("server-stream-at-the-cap-ends-explicitly", cells=CHAT_STREAM)
class NoEndAtTheCap(ChatFrames):
    """Sends no end of the stream if the rounds are used up."""

    def end(self, answer: Answer) -> list[bytes]:
        return [] if answer.capped else super().end(answer)


@breaks("server-stream-after-an-error-ends-explicitly", cells=CHAT_STREAM)
class FailedStreamsLackTheirMark(ChatFrames):
    """Sends no `[DONE]` after an error in a Chat Completions stream."""

    def failed(self, error: Refused) -> list[bytes]:
        return super().failed(error)[:-1]


@breaks("server-plain-and-stream-agree", cells=CHAT_STREAM)
class StreamsLeaveTheChoiceOpen(ServerLoop):
    """Omits tool_choice after the first round of a streamed request."""

    def tool_choice(self) -> object:
        return None if self.request.stream and self.round else super().tool_choice()


@breaks("server-plain-and-stream-record-alike", cells=CHAT_STREAM)
class FailedCallsAreRecordedBare(ServerLoop):
    """Records a failed call without its arguments."""

    def _entry(self, record: Record) -> Json:
        entry = super()._entry(record)
        failed = record.result.content.startswith('{"error":')
        return {**entry, "arguments": "{}"} if failed else entry


@breaks("server-text-beside-a-call-is-told-alike", cells=CHAT_STREAM)
class StreamsHideTextBesideCalls(ServerLoop):
    """Shows text of turns with calls only in plain replies."""

    def forwards(self, turn: Turn) -> Sequence[Event]:
        return [TextPiece(turn.text)] if turn.text and not self.request.stream else []


@breaks("server-stream-tells-its-session", cells=CHAT_STREAM)
class StreamsHideTheirSession(ChatFrames):
    """Returns the session id only in plain replies."""

    def end(self, answer: Answer) -> list[bytes]:
        return super().end(_nameless(answer))


def _nameless(answer: Answer) -> Answer:
    return replace(answer, session_id=None)


@breaks("server-pieces-are-told-whole", cells=RESPONSES_STREAM)
class TextsHaveNoEnd(ResponsesFrames):
    """Sends no event with the whole text behind the pieces of it."""

    def _close_text(self) -> list[bytes]:
        return super()._close_text()[1:]


@breaks("server-pieces-are-told-whole", cells=RESPONSES_STREAM)
class ArgumentsHaveNoEnd(ResponsesFrames):
    """Sends no event with the whole arguments behind the pieces of them."""

    def _event(self, name: str, /, **members: object) -> bytes:
        frame = super()._event(name, **members)
        return b"" if name == "response.function_call_arguments.done" else frame


@breaks("server-last-event-has-the-output", cells=RESPONSES_STREAM)
class LastEventsAreEmpty(ResponsesFrames):
    """Sends an empty output in the event that ends a Responses stream."""

    def _event(self, name: str, /, **members: object) -> bytes:
        if name == "response.completed" and isinstance(whole := members["response"], dict):
            members = {"response": {**whole, "output": []}}
        return super()._event(name, **members)
