"""How streams end, and where they tell something else than plain replies: frames, and loops that heed the form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from looptck_mutants.cells import CHAT_STREAM
from looptck_mutants.server_loop.parts import breaks
from looptck_reference.loop.values import Json, Stop, Turn
from looptck_reference.server.api.chat import ChatFrames
from looptck_reference.server.errors import Refused
from looptck_reference.server.events import Event, TextPiece
from looptck_reference.server.loop import ServerLoop
from looptck_reference.server.values import Answer, Record


@breaks("server-every-stream-ends-explicitly", cells=CHAT_STREAM)
class CutAnswersHaveNoEnd(ChatFrames):
    """Sends no `[DONE]` behind an answer that the token limit cut."""

    def end(self, answer: Answer) -> list[bytes]:
        return super().end(answer)[: -1 if answer.stop is Stop.LENGTH else None]


@breaks("server-stream-at-the-cap-ends-explicitly", cells=CHAT_STREAM)
class NoEndAtTheCap(ChatFrames):
    """Lets a stream just stop where the rounds are used up."""

    def end(self, answer: Answer) -> list[bytes]:
        return [] if answer.capped else super().end(answer)


@breaks("server-stream-after-an-error-ends-explicitly", cells=CHAT_STREAM)
class FailedStreamsLackTheirMark(ChatFrames):
    """Ends a stream of Chat Completions with the error."""

    def failed(self, error: Refused) -> list[bytes]:
        return super().failed(error)[:-1]


@breaks("server-plain-and-stream-agree", cells=CHAT_STREAM)
class StreamsLeaveTheChoiceOpen(ServerLoop):
    """Leaves tool_choice out behind the first round of a streamed request."""

    def tool_choice(self) -> object:
        return None if self.request.stream and self.round else super().tool_choice()


@breaks("server-plain-and-stream-record-alike", cells=CHAT_STREAM)
class FailedCallsAreRecordedBare(ServerLoop):
    """Records a call that failed without its arguments."""

    def _entry(self, record: Record) -> Json:
        entry = super()._entry(record)
        failed = record.result.content.startswith('{"error":')
        return {**entry, "arguments": "{}"} if failed else entry


@breaks("server-text-beside-a-call-is-told-alike", cells=CHAT_STREAM)
class StreamsShowTextBesideCalls(ServerLoop):
    """Shows text that stood beside a call to streams only."""

    def forwards(self, turn: Turn) -> Sequence[Event]:
        return [TextPiece(turn.text)] if turn.text and self.request.stream else []


@breaks("server-stream-tells-its-session", cells=CHAT_STREAM)
class StreamsHideTheirSession(ChatFrames):
    """Names the session of plain requests only."""

    def end(self, answer: Answer) -> list[bytes]:
        return super().end(_nameless(answer))


def _nameless(answer: Answer) -> Answer:
    return replace(answer, session_id=None)
