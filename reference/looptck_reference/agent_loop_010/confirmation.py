"""A person's decision about a Call before it is executed (Agent/Loop, "Human-in-the-Loop").

The document specifies when the confirmation happens, just before execution, and leaves its mechanism open. These four
answers are the reference's own; three of them are those of the loop of tool calls.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from looptck_reference.agent_loop_010.calls import Call
from looptck_reference.vocabulary import approval
from looptck_reference.vocabulary.approval import Approve, Change, Reject
from looptck_reference.vocabulary.values import Json

__all__ = ["Approve", "Change", "Confirmation", "Decision", "Reject", "Replace", "decision"]


@dataclass(frozen=True, slots=True)
class Replace:
    """Execute this Call, written as a model would write it, instead of the original one."""

    call: Any


Decision = Approve | Change | Replace | Reject

Confirmation = Callable[[Call], Awaitable[Decision]]
"""The hook that asks for a decision: it gets the Call as the model wrote it, with unresolved references."""


def decision(answer: Json) -> Decision:
    """The decision in its JSON form: `{"decision": "approve" | "change" | "replace" | "reject", …}`.

    Raises:
        ValueError: it is none of the four.
    """
    match answer:
        case {"decision": "replace", "call": call}:
            return Replace(call)
        case {"decision": "reject"}:
            return Reject(answer.get("feedback", "rejected"))
    return approval.decision(answer)
