"""Approval: the calls that a person must decide about before they run, and the decisions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from looptck_reference.vocabulary.values import Json, ToolCall

__all__ = ["Approve", "Change", "Decision", "Pending", "Reject", "decision", "names_of"]


@dataclass(frozen=True, slots=True)
class Approve:
    """Run the call."""


@dataclass(frozen=True, slots=True)
class Change:
    """Run the call with these parameters in place of its own of the same names."""

    parameters: Json


@dataclass(frozen=True, slots=True)
class Reject:
    """Do not run the call; the feedback is the reason, for the model."""

    feedback: str


Decision = Approve | Change | Reject


@dataclass(frozen=True, slots=True)
class Pending:
    """A call that waits for a decision.

    `id` names it among the calls of its turn, `name` is the tool's own name, `arguments` are those of the model.
    """

    id: str
    name: str
    arguments: Json


def decision(answer: Json) -> Decision:
    """The decision in its JSON form: `{"decision": "approve" | "change" | "reject", …}`.

    Raises:
        ValueError: it is none of the three. Nothing may run because an answer was not understood.
    """
    match answer:
        case {"decision": "approve"}:
            return Approve()
        case {"decision": "change", "parameters": dict(parameters)}:
            return Change(parameters)
        case {"decision": "reject"}:
            return Reject(answer.get("feedback") or "no reason was given")
    raise ValueError(f"not a decision about a call: {answer!r:.200}")


def names_of(calls: Sequence[ToolCall], places: Iterable[int]) -> dict[str, int]:
    """A name for the call at each of these places: its id, or with its place if an earlier call has the same id."""
    names: dict[str, int] = {}
    for place in places:
        id = calls[place].id
        names[f"{id}#{place}" if id in names else id] = place
    return names
