"""A suspended run as JSON, from which another process can resume it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from looptck_reference.loop.conversation import Conversation
from looptck_reference.vocabulary.values import Json, ToolCall, ToolResult

__all__ = ["Suspension"]


@dataclass(frozen=True, slots=True)
class Suspension:
    """Everything about a run except what its caller passes again: agent, inputs, wire, dialect, limit and handlers."""

    conversation: Conversation
    """It ends with the open turn, whose calls have no results yet."""
    round_ends: tuple[int, ...]
    model_calls: int
    usage: tuple[Any, ...]
    calls: tuple[ToolCall, ...]
    """The calls of the open turn."""
    results: Mapping[int, ToolResult]
    """The results that were obtained, by the place of their call. The calls without one wait for a decision."""

    def to_json(self) -> Json:
        """The run as JSON."""
        return {
            "conversation": self.conversation.to_json(),
            "round_ends": list(self.round_ends),
            "model_calls": self.model_calls,
            "usage": list(self.usage),
            "calls": [asdict(call) for call in self.calls],
            "results": [asdict(self.results[at]) if at in self.results else None for at in range(len(self.calls))],
        }

    @classmethod
    def from_json(cls, state: Json) -> Self:
        """The run of this JSON."""
        return cls(
            Conversation.from_json(state["conversation"]),
            tuple(state["round_ends"]),
            state["model_calls"],
            tuple(state["usage"]),
            tuple(ToolCall(**call) for call in state["calls"]),
            {at: ToolResult(**result) for at, result in enumerate(state["results"]) if result is not None},
        )
