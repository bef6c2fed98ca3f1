"""How streams end, and where they tell something else than plain replies: frames, and loops that heed the form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from looptck_reference.mutants.mutant import CHAT_STREAM
from looptck_reference.mutants.server_loop.mutant import ServerMutant
from looptck_reference.server.api.chat import ChatFrames
from looptck_reference.server.errors import Refused
from looptck_reference.server.events import Event, TextPiece
from looptck_reference.server.loop import AgentLoop
from looptck_reference.server.serving import Simulator
from looptck_reference.server.values import Answer, Record
from looptck_reference.values import Json, Stop, Turn


class CutAnswersHaveNoEnd(ServerMutant):
    """Sends no `[DONE]` behind an answer that the token limit cut: `server-every-stream-ends-explicitly`."""

    breaks = ("server-every-stream-ends-explicitly",)
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801  the bench's attribute
        class chat(ChatFrames):  # noqa: N801  the simulator's attribute
            def end(self, answer: Answer) -> list[bytes]:
                return super().end(answer)[: -1 if answer.stop is Stop.LENGTH else None]


class NoEndAtTheCap(ServerMutant):
    """Lets a stream just stop where the rounds are used up: `server-stream-at-the-cap-ends-explicitly`."""

    breaks = ("server-stream-at-the-cap-ends-explicitly",)
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801
        class chat(ChatFrames):  # noqa: N801
            def end(self, answer: Answer) -> list[bytes]:
                return [] if answer.capped else super().end(answer)


class FailedStreamsLackTheirMark(ServerMutant):
    """Ends a stream of Chat Completions with the error: `server-stream-after-an-error-ends-explicitly`."""

    breaks = ("server-stream-after-an-error-ends-explicitly",)
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801
        class chat(ChatFrames):  # noqa: N801
            def failed(self, error: Refused) -> list[bytes]:
                return super().failed(error)[:-1]


class StreamsLeaveTheChoiceOpen(ServerMutant):
    """Leaves tool_choice out behind the first round of a streamed request: `server-plain-and-stream-agree`."""

    breaks = ("server-plain-and-stream-agree",)
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def tool_choice(self) -> object:
                return None if self.request.stream and self.round else super().tool_choice()


class FailedCallsAreRecordedBare(ServerMutant):
    """Records a call that failed without its arguments: `server-plain-and-stream-record-alike`."""

    breaks = ("server-plain-and-stream-record-alike",)
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def _entry(self, record: Record) -> Json:
                entry = super()._entry(record)
                failed = record.result.content.startswith('{"error":')
                return {**entry, "arguments": "{}"} if failed else entry


class StreamsShowTextBesideCalls(ServerMutant):
    """Shows text that stood beside a call to streams only: `server-text-beside-a-call-is-told-alike`."""

    breaks = ("server-text-beside-a-call-is-told-alike",)
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801
        class loop(AgentLoop):  # noqa: N801
            def forwards(self, turn: Turn) -> Sequence[Event]:
                return [TextPiece(turn.text)] if turn.text and self.request.stream else []


class StreamsHideTheirSession(ServerMutant):
    """Names the session of plain requests only: `server-stream-tells-its-session`."""

    breaks = ("server-stream-tells-its-session",)
    cells = CHAT_STREAM

    class simulator(Simulator):  # noqa: N801
        class chat(ChatFrames):  # noqa: N801
            def end(self, answer: Answer) -> list[bytes]:
                return super().end(_nameless(answer))


def _nameless(answer: Answer) -> Answer:
    return replace(answer, session_id=None)
