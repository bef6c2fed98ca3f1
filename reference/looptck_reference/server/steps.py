"""The steps that the loop asks of its runner: the only way out of the core."""

from __future__ import annotations

from dataclasses import dataclass

from looptck_reference.server.values import Answer, Called, Message
from looptck_reference.vocabulary.values import Json

__all__ = ["AskClient", "Decision", "Execute", "Fail", "Finish", "Infer", "Step"]


@dataclass(frozen=True, slots=True)
class Infer:
    """Send this body to the model; report the turn."""

    body: Json


@dataclass(frozen=True, slots=True)
class AskClient:
    """Ask the client whether this call may run; report the decision."""

    approval_id: str
    called: Called


@dataclass(frozen=True, slots=True)
class Decision:
    """The client's decision, or its replacement; `remember`: it holds for the rest of the session."""

    approved: bool
    message: str | None = None
    remember: bool = False


@dataclass(frozen=True, slots=True)
class Execute:
    """Run this tool; report its result, or the exception that it raised."""

    called: Called


@dataclass(frozen=True, slots=True)
class Finish:
    """Return this answer to the client; `session` is to be stored, None for nothing."""

    answer: Answer
    session: tuple[Message, ...] | None


@dataclass(frozen=True, slots=True)
class Fail:
    """End the run with this error; no session is stored."""

    error: Exception


Step = Infer | AskClient | Execute | Finish | Fail
