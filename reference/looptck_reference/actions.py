"""What the loop asks of whoever drives it: the only way out of the core.

A runner obeys `Ask`, `Run` and `RunAll` and reports back; `Finish` and `Fail` are the last word.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from looptck_reference.errors import Reason
    from looptck_reference.tools import Handler
    from looptck_reference.values import Answer, Json, ToolCall

__all__ = ["Action", "Ask", "End", "Fail", "Finish", "Raised", "Returned", "Run", "RunAll"]


@dataclass(frozen=True, slots=True)
class Ask:
    """Send this history, in the wire's own messages, to the model; report the turn."""

    history: tuple[Json, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """Call this handler with these keyword arguments; report what it returned or raised."""

    call: ToolCall
    handler: Handler
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RunAll:
    """Do all of these at the same time; report what became of each, in this order, once all have ended."""

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
"""What became of a tool that was run together with others."""


@dataclass(frozen=True, slots=True)
class Finish:
    """Hand this answer to the caller."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class Fail:
    """Raise this error to the caller."""

    error: Exception
    reason: Reason


Action = Ask | Run | RunAll | Finish | Fail
