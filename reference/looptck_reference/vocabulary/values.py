"""The provider-neutral values that the loop and a wire exchange.

A wire turns bytes into these values and these values into messages; the loop knows nothing else about a provider.
All of them are frozen, because a model's turn never changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

__all__ = ["Answer", "Delta", "Json", "Stop", "ToolCall", "ToolResult", "Turn"]

Json = dict[str, Any]


class Stop(StrEnum):
    """The reason why a turn ended, in provider-neutral form."""

    END = "end"
    CALLS = "calls"
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"
    REFUSAL = "refusal"
    PAUSE = "pause"

    @property
    def truncated(self) -> bool:
        """Whether the turn may be incomplete, so that nothing in it may be acted upon."""
        return self in {Stop.LENGTH, Stop.CONTENT_FILTER}


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A request of the model to run a tool; the arguments are the model's own text, not yet parsed.

    `extra` belongs to the wire: data that a provider sends with the call and expects back with its result.
    """

    id: str
    name: str
    arguments: str
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Turn:
    """One complete reply of the model.

    `content` belongs to the wire: the reply's own blocks or items, unchanged, from which text and calls are read.
    Providers expect all of them back, including unknown ones.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    stop: Stop = Stop.END
    usage: Mapping[str, Any] | None = None
    content: tuple[Json, ...] = ()
    carried: Mapping[str, Any] = field(default_factory=dict)
    """Members of the next request, beside its history: the container in which the provider runs code."""


@dataclass(frozen=True, slots=True)
class Delta:
    """The content of one stream event: text, and whether the turn is now known to call tools.

    `written` are pieces of arguments, each with the id of its call.
    """

    text: str = ""
    calling: bool = False
    written: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer to one call, as the model will read it, with the call's `extra`.

    `parts` are the texts and images of a result with images; `text` has the texts among them.
    """

    call_id: str
    name: str
    text: str
    failed: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)
    parts: Sequence[Json] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """The result for the loop's caller, with one usage record for each model call that reported one.

    `calls` are the calls of the last turn, which were not run. `output` is the value that the caller wants in place of
    the text, if it has given a schema.
    """

    text: str
    stop: Stop = Stop.END
    usage: tuple[Mapping[str, Any], ...] = ()
    calls: tuple[ToolCall, ...] = ()
    output: Any = None
