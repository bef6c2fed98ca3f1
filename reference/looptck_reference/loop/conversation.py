"""A conversation: what outlives a run, so that another run can go on with it, in any process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from looptck_reference.vocabulary.values import Json

__all__ = ["Conversation"]


@dataclass(frozen=True, slots=True)
class Conversation:
    """Everything said so far, in a form that the service accepts, in the messages of one wire.

    `Loop.conversation` makes one at any moment of a run, and a loop that is given one goes on with it. Its parts are
    plain JSON. A conversation never changes, so several runs may go on with the same one, each in its own way.
    """

    history: tuple[Json, ...] = ()
    carried: Mapping[str, Any] = field(default_factory=dict)
    """What the model's turns have asked to be sent beside the history."""
    instructions: tuple[Json, ...] = ()
    """The caller's messages that the wire sends beside the history."""

    def to_json(self) -> Json:
        """The conversation as JSON."""
        return {
            "history": list(self.history),
            "carried": dict(self.carried),
            "instructions": list(self.instructions),
        }

    @classmethod
    def from_json(cls, kept: Json) -> Self:
        """The conversation of this JSON."""
        return cls(tuple(kept["history"]), kept["carried"], tuple(kept["instructions"]))
