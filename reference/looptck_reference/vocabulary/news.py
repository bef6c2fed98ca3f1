"""News: what the caller of a run may hear while it runs, beside text: calls, their results, and the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from looptck_reference.vocabulary.values import ToolCall, ToolResult

__all__ = ["Called", "News", "Over", "Resulted", "Written"]


@dataclass(frozen=True, slots=True)
class Written:
    """The model has written a piece of the arguments of the call with this id."""

    call_id: str
    piece: str


@dataclass(frozen=True, slots=True)
class Called:
    """The model has made a call, in a turn whose calls are meant to run."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class Resulted:
    """A call has its result."""

    result: ToolResult


@dataclass(frozen=True, slots=True)
class Over:
    """The run is over. Nothing comes after it."""

    how: Literal["value", "error", "cancelled", "suspended"]


News = Written | Called | Resulted | Over
