"""What a person may decide about a Call before it is executed (Agent/Loop, "Human-in-the-Loop").

The document asks for the place of the confirmation, just before execution, and leaves its mechanism open; these four
answers are the reference's own.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from looptck_reference.agent_loop_010.calls import Call
from looptck_reference.values import Json

__all__ = ["Approve", "Change", "Confirmation", "Decision", "Reject", "Replace", "decision"]


@dataclass(frozen=True, slots=True)
class Approve:
    """Execute the Call."""


@dataclass(frozen=True, slots=True)
class Change:
    """Execute the Call with these parameters in the place of its own of the same names."""

    parameters: Json


@dataclass(frozen=True, slots=True)
class Replace:
    """Execute this Call, as a model would write it, and not the one that was asked about."""

    call: Any


@dataclass(frozen=True, slots=True)
class Reject:
    """Execute nothing; tell the model why."""

    feedback: Any


Decision = Approve | Change | Replace | Reject

Confirmation = Callable[[Call], Awaitable[Decision]]
"""The hook that asks: it is given the Call as the model wrote it, its references unresolved."""


def decision(told: Json) -> Decision:
    """The decision in its JSON form: `{"decision": "approve" | "change" | "replace" | "reject", …}`.

    Raises:
        ValueError: it is none of the four.
    """
    match told:
        case {"decision": "approve"}:
            return Approve()
        case {"decision": "change", "parameters": dict(parameters)}:
            return Change(parameters)
        case {"decision": "replace", "call": call}:
            return Replace(call)
        case {"decision": "reject"}:
            return Reject(told.get("feedback", "rejected"))
    raise ValueError(f"no decision about a call: {told!r:.200}")
