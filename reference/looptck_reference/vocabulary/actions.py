"""The actions that the loop asks of its runner: the only way out of the core.

A runner executes `Ask`, `RunTools` and `Decide` and reports back; `Finish`, `Suspend` and `Fail` end the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from looptck_reference.vocabulary.approval import Pending
    from looptck_reference.vocabulary.errors import Reason
    from looptck_reference.vocabulary.tools import Handler
    from looptck_reference.vocabulary.values import Answer, Json, ToolCall

__all__ = ["Action", "Ask", "Decide", "End", "Fail", "Finish", "Raised", "Returned", "Run", "RunTools", "Suspend"]


@dataclass(frozen=True, slots=True)
class Ask:
    """Send this history, in the wire's own messages, to the model; report the turn."""

    history: tuple[Json, ...]
    carried: Mapping[str, Any] = field(default_factory=dict)
    """Further members of the request, which the model's last turns have asked for."""


@dataclass(frozen=True, slots=True)
class Run:
    """One runnable call: its handler and keyword arguments."""

    call: ToolCall
    handler: Handler
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RunTools:
    """Run these calls, all at the same time; once all have ended, report the end of each, in this order."""

    runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Returned:
    """A tool returned this value."""

    value: object


@dataclass(frozen=True, slots=True)
class Raised:
    """A tool raised this exception."""

    error: Exception


End = Returned | Raised
"""The end of one tool."""


@dataclass(frozen=True, slots=True)
class Decide:
    """Let someone decide about these calls; report the decisions, or that the run is to wait for them elsewhere."""

    calls: tuple[Pending, ...]


@dataclass(frozen=True, slots=True)
class Finish:
    """Hand this answer to the caller."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class Suspend:
    """End for now: hand these calls to the caller, and the state, as JSON, from which decisions resume the run."""

    calls: tuple[Pending, ...]
    state: Json


@dataclass(frozen=True, slots=True)
class Fail:
    """Raise this error to the caller."""

    error: Exception
    reason: Reason


Action = Ask | RunTools | Decide | Finish | Suspend | Fail
