"""The neutral words in which the loop and a wire talk to each other.

A wire turns bytes into these values and these values into messages; the loop knows nothing else about a provider.
All of them are frozen: what a model said does not change after it was said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

__all__ = ["Answer", "Delta", "Json", "Stop", "ToolCall", "ToolResult", "Turn"]

Json = dict[str, Any]


class Stop(StrEnum):
    """Why a turn ended, whatever the provider calls it."""

    END = "end"
    CALLS = "calls"
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"
    REFUSAL = "refusal"
    PAUSE = "pause"

    @property
    def cut(self) -> bool:
        """Whether the turn may be half of what the model meant, so that nothing in it may be acted upon."""
        return self in {Stop.LENGTH, Stop.CONTENT_FILTER}


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A request of the model to run a tool; the arguments are the model's own text, not yet parsed.

    `extra` is the wire's: what a provider said beside the call and wants to read again beside its result.
    """

    id: str
    name: str
    arguments: str
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Turn:
    """One reply of the model, whole.

    `content` is the wire's: the reply's own blocks or items, as they came, of which text and calls are a reading.
    Providers want to see all of them again, also those that nobody here understands.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    stop: Stop = Stop.END
    usage: Mapping[str, Any] | None = None
    content: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True)
class Delta:
    """What one event of a stream added: text, and whether the turn is known by now to call tools."""

    text: str = ""
    calling: bool = False


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer to one call, as the model will read it, with the call's `extra`."""

    call_id: str
    name: str
    text: str
    failed: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """What the caller of the loop gets; one usage record for each model call that reported one.

    `calls` are those of the last turn, which were not meant to be run.
    """

    text: str
    stop: Stop = Stop.END
    usage: tuple[Mapping[str, Any], ...] = ()
    calls: tuple[ToolCall, ...] = ()
