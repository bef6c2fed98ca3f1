"""What the loop asks of its runner: the only way out of the core."""

from __future__ import annotations

from dataclasses import dataclass

from looptck_reference.server.values import Answer, Called, Message
from looptck_reference.values import Json

__all__ = ["AskClient", "Decision", "Execute", "Fail", "Finish", "Infer", "Step"]


@dataclass(frozen=True, slots=True)
class Infer:
    """Send this body to the model; report the turn."""

    body: Json


@dataclass(frozen=True, slots=True)
class AskClient:
    """Ask the client whether this may run; report the decision."""

    approval_id: str
    called: Called


@dataclass(frozen=True, slots=True)
class Decision:
    """What the client decided, or what happened instead; `remember`: for the rest of the session."""

    approved: bool
    message: str | None = None
    remember: bool = False


@dataclass(frozen=True, slots=True)
class Execute:
    """Run this tool; report its result, or the exception that it raised."""

    called: Called


@dataclass(frozen=True, slots=True)
class Finish:
    """Hand this to the client; `session` is what is to be stored, None for nothing."""

    answer: Answer
    session: tuple[Message, ...] | None


@dataclass(frozen=True, slots=True)
class Fail:
    """End the run with this error; no session is stored."""

    error: Exception


Step = Infer | AskClient | Execute | Finish | Fail
