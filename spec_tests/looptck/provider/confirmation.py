"""Confirmation: what somebody who is asked about a call before it runs decides.

The questions come from the confirmation hook of a driver (profile ``agent-loop-010``). 010: Agent/Loop,
Human-in-the-Loop, names approval and correction; rejection with feedback is what 801: Package/Agent adds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from looptck.provider.gates import Gate


@dataclass(frozen=True, slots=True)
class Approve:
    """The call may run as it is."""

    hold: Gate | None = None

    def answer(self) -> dict[str, Any]:
        return {"decision": "approve"}


@dataclass(frozen=True, slots=True)
class Change:
    """The call may run with these values in place of those of the parameters of these names."""

    parameters: Mapping[str, Any]
    hold: Gate | None = None

    def answer(self) -> dict[str, Any]:
        return {"decision": "change", "parameters": dict(self.parameters)}


@dataclass(frozen=True, slots=True)
class Replace:
    """Another call, as a model would write it, may run in its place."""

    call: Mapping[str, Any]
    hold: Gate | None = None

    def answer(self) -> dict[str, Any]:
        return {"decision": "replace", "call": dict(self.call)}


@dataclass(frozen=True, slots=True)
class Reject:
    """The call may not run, for this reason, which is for the model."""

    feedback: str
    hold: Gate | None = None

    def answer(self) -> dict[str, Any]:
        return {"decision": "reject", "feedback": self.feedback}


Decision = Approve | Change | Replace | Reject


@dataclass(slots=True)
class Confirmation:
    """Decisions by tool, one for each question about it, the last one for all further ones.

    Those under ``""`` are for questions about any other tool.
    """

    decisions: Mapping[str, Sequence[Decision]] = field(default_factory=dict)
    _questions: dict[str, int] = field(default_factory=dict)

    def next(self, tool: object) -> Decision:
        """What is decided on this question. Where nothing was said, the call may run."""
        key = tool if isinstance(tool, str) and tool in self.decisions else ""
        question = self._questions[key] = self._questions.get(key, 0) + 1
        decisions = self.decisions.get(key)
        return decisions[min(question, len(decisions)) - 1] if decisions else Approve()
