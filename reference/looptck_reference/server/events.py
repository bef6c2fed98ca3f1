"""The events that a client can get during its run, in any API.

Named events are the agentic ones, which are the same in all three APIs; `TextPiece`, `CallsPiece` and `Finished` become
chunks in the format of each API.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from looptck_reference.server.values import Answer
from looptck_reference.vocabulary.values import Json, ToolCall

__all__ = [
    "ApprovalRequired",
    "CallsPiece",
    "Event",
    "FileProduced",
    "Finished",
    "NamedEvent",
    "Phase",
    "Progress",
    "TextPiece",
    "Warned",
]

Phase = Literal["calling", "complete"]


@dataclass(frozen=True, slots=True)
class Progress:
    """An event before and after each execution."""

    name: ClassVar[str] = "agentic_tool_call_progress"

    round: int
    tool_name: str
    phase: Phase
    data: Mapping[str, Any]

    @property
    def body(self) -> Json:
        """The data of the event."""
        return {
            "type": self.name,
            "round": self.round,
            "tool_name": self.tool_name,
            "phase": self.phase,
            "data": dict(self.data),
        }


@dataclass(frozen=True, slots=True)
class FileProduced:
    """A file that a tool has made, sent between `calling` and `complete`; `data` is its content.

    `number` is the place of its call in the round.
    """

    name: ClassVar[str] = "file_produced"

    file: Json
    data: bytes = field(repr=False)
    number: int = 0

    @property
    def body(self) -> Json:
        """The data of the event."""
        return self.file


@dataclass(frozen=True, slots=True)
class ApprovalRequired:
    """The run waits for `POST /v1/agent/approvals/{approval_id}`."""

    name: ClassVar[str] = "agentic_tool_approval_required"

    approval_id: str
    session_id: str | None
    round: int
    tool: Json
    arguments: Any

    @property
    def body(self) -> Json:
        """The data of the event."""
        return {
            "type": self.name,
            "approval_id": self.approval_id,
            "session_id": self.session_id,
            "round": self.round,
            "tool": self.tool,
            "arguments": self.arguments,
        }


@dataclass(frozen=True, slots=True)
class Warned:
    """Calls did not run and have left the history, so only the log would mention them. An event of the reference."""

    name: ClassVar[str] = "agentic_warning"

    round: int
    message: str
    calls: tuple[ToolCall, ...]

    @property
    def body(self) -> Json:
        """The data of the event."""
        calls = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in self.calls]
        return {"type": self.name, "round": self.round, "message": self.message, "tool_calls": calls}


@dataclass(frozen=True, slots=True)
class TextPiece:
    """Text for the client."""

    text: str


@dataclass(frozen=True, slots=True)
class CallsPiece:
    """Calls for the client."""

    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True)
class Finished:
    """The last event of a run that did not fail."""

    answer: Answer


NamedEvent = Progress | FileProduced | ApprovalRequired | Warned
Event = NamedEvent | TextPiece | CallsPiece | Finished
