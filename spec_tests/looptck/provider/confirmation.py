"""Confirmation: the decisions of a person who must approve a call before it runs.

The questions come from the confirmation hook of a driver (profile ``agent-loop-010``). 010: Agent/Loop,
Human-in-the-Loop, names approval and correction; 801: Package/Agent adds rejection with feedback.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

from looptck.provider.gate import Gate
from looptck.values.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Approve:
    """The call may run unchanged."""

    hold: Gate | None = None

    def answer(self) -> dict[str, Any]:
        return {"decision": "approve"}


@dataclass(frozen=True, slots=True)
class Change:
    """The call may run with these values for the parameters of these names."""

    parameters: Mapping[str, Any]
    hold: Gate | None = None

    def answer(self) -> dict[str, Any]:
        return {"decision": "change", "parameters": dict(self.parameters)}


@dataclass(frozen=True, slots=True)
class Replace:
    """Another call, as a model would write it, may run instead."""

    call: Mapping[str, Any]
    hold: Gate | None = None

    def answer(self) -> dict[str, Any]:
        return {"decision": "replace", "call": dict(self.call)}


@dataclass(frozen=True, slots=True)
class Reject:
    """The call must not run; the feedback is the reason, for the model."""

    feedback: str
    hold: Gate | None = None

    def answer(self) -> dict[str, Any]:
        return {"decision": "reject", "feedback": self.feedback}


@dataclass(frozen=True, slots=True)
class Unavailable:
    """No decision: the service of the hook answers with this status and no JSON, or hangs up (None)."""

    status: int | None = 500
    hold: Gate | None = None

    def __str__(self) -> str:
        return "hangs up" if self.status is None else f"answers with status {self.status}"

    def answer(self) -> dict[str, Any]:
        return {"error": f"the service {self}"}


Decision = Approve | Change | Replace | Reject | Unavailable
Decides = Callable[[Mapping[str, Any]], Decision]
"""Makes the decision from the call that is asked about."""


@dataclass(slots=True)
class Confirmation:
    """Decisions by tool, one per question about it; the last one is repeated.

    Those under ``""`` are for all other tools.
    """

    decisions: Mapping[str, Sequence[Decision]] = field(default_factory=dict)
    by: Decides | None = None
    """Makes every decision; None: they are those in order."""
    _questions: dict[str, int] = field(default_factory=dict)

    def next(self, tool: object, call: Mapping[str, Any]) -> Decision:
        """The decision on the next question about a tool. Without decisions the call may run."""
        if self.by is not None:
            return self.by(call)
        key = tool if isinstance(tool, str) and tool in self.decisions else ""
        question = self._questions[key] = self._questions.get(key, 0) + 1
        decisions = self.decisions.get(key)
        return decisions[min(question, len(decisions)) - 1] if decisions else Approve()
