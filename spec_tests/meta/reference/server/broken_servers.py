"""Broken servers: the simulator with one seam bent in each."""

from __future__ import annotations

from collections.abc import Sequence

from looptck_reference.server import ServerLoop, Simulator
from looptck_reference.server.api.chat import ChatFrames
from looptck_reference.server.events import CallsPiece, Event, FileProduced, Progress
from looptck_reference.server.sessions import Session
from looptck_reference.server.steps import Fail
from looptck_reference.server.values import Answer, Called, Message, Record, Result, RunRequest
from looptck_reference.vocabulary.values import Json, ToolCall, Turn


class OneRoundTooMany(Simulator):
    """The cap is off by one."""

    class loop(ServerLoop):  # noqa: N801  the simulator's attribute
        def cap_reached(self) -> bool:
            return self.round > self.cap


class RunsAllCalls(Simulator):
    """Every call of a turn is run."""

    class loop(ServerLoop):  # noqa: N801
        def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
            return turn.calls


class NoComplete(Simulator):
    """`complete` is missing."""

    class loop(ServerLoop):  # noqa: N801
        def events_after(self, record: Record) -> Sequence[Event]:
            return [event for event in super().events_after(record) if not isinstance(event, Progress)]


class CompleteBeforeFiles(Simulator):
    """`complete` comes before `file_produced`."""

    class loop(ServerLoop):  # noqa: N801
        def events_after(self, record: Record) -> Sequence[Event]:
            return sorted(super().events_after(record), key=lambda event: isinstance(event, FileProduced))


class NoEndAtTheCap(Simulator):
    """A stream just stops where the rounds are used up."""

    class chat(ChatFrames):  # noqa: N801
        def end(self, answer: Answer) -> list[bytes]:
            return [] if answer.capped else super().end(answer)


class ForgetsToolMessages(Simulator):
    """A session has only what the client has seen."""

    class loop(ServerLoop):  # noqa: N801
        def saved(self, turn: Turn) -> Sequence[Message]:
            return [message for message in super().saved(turn) if not message.hidden]


class AnothersSession(Simulator):
    """A client gets whatever session was stored last."""

    def session_of(self, request: RunRequest) -> Session | None:
        return next((session for _, _, session in reversed(self.sessions._kept.values())), None)


class RaisesToTheClient(Simulator):
    """A tool that fails ends the run."""

    class loop(ServerLoop):  # noqa: N801
        def failure(self, called: Called, error: Exception) -> Result | Fail:
            return Fail(error)


class ForcesForEver(Simulator):
    """A forced tool_choice holds in every round."""

    class loop(ServerLoop):  # noqa: N801
        def tool_choice(self) -> object:
            return self.request.tool_choice


class LeaksCalls(Simulator):
    """The client sees calls that are not its own."""

    class loop(ServerLoop):  # noqa: N801
        def forwards(self, turn: Turn) -> Sequence[Event]:
            return [CallsPiece(turn.calls)]


class LastUsage(Simulator):
    """Only the last round is counted."""

    class loop(ServerLoop):  # noqa: N801
        def total_usage(self) -> Json | None:
            return self.usages[-1]


class NextRound(Simulator):
    """A file is attributed to the round behind its own."""

    class loop(ServerLoop):  # noqa: N801
        def file_round(self) -> int:
            return self.round + 1
