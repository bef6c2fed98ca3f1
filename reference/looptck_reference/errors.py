"""What can go wrong, named after what the caller of the loop has to do about it.

Each error knows its `reason`, a word from a closed list, so that a program need not read messages.
"""

from __future__ import annotations

from typing import ClassVar, Literal

__all__ = [
    "AsyncToolInSyncRun",
    "BadArguments",
    "ChildCalledTools",
    "ConnectionLost",
    "LimitReached",
    "LoopError",
    "MalformedReply",
    "NotOnThisWire",
    "OutOfTurn",
    "ProviderError",
    "Reason",
    "StreamBroken",
    "TurnCut",
    "UnknownModel",
    "UnknownTool",
]

Reason = Literal["limit", "tool", "unknown-tool", "arguments", "provider", "stream", "truncated", "other"]


class LoopError(Exception):
    """Any error of the loop's own; a tool's exception is not one."""

    reason: ClassVar[Reason] = "other"


class OutOfTurn(LoopError):
    """The loop was told something that it was not waiting for: a fault of the runner."""


class LimitReached(LoopError):
    """The model had not answered when the iteration limit was used up."""

    reason = "limit"


class TurnCut(LoopError):
    """A turn with tool calls was cut off, so its calls were not run."""

    reason = "truncated"


class UnknownTool(LoopError, LookupError):
    """The model called a tool for which no handler is registered."""

    reason = "unknown-tool"


class NotOnThisWire(LoopError, ValueError):
    """An agent asks for what the provider's API has no words for."""


class UnknownModel(LoopError, ValueError):
    """A prompt names a provider, an API or an option that no wire has words for, or no key."""


class ChildCalledTools(LoopError):
    """The model of a prompt that runs as a tool, in the mode single, called tools."""

    reason = "tool"


class BadArguments(LoopError, ValueError):
    """The arguments of a call are not a JSON object."""

    reason = "arguments"


class AsyncToolInSyncRun(LoopError, TypeError):
    """A tool's handler is asynchronous and the runner is not."""

    reason = "tool"


class MalformedReply(LoopError):
    """The provider answered with something that its wire does not allow."""

    reason = "provider"


class ProviderError(LoopError):
    """The provider said that it failed: an HTTP status, or an error object in a reply or a stream."""

    reason = "provider"

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class ConnectionLost(LoopError):
    """There was no connection to the provider, or it broke before the reply was complete."""

    reason = "provider"


class StreamBroken(LoopError):
    """The event stream ended too early or held what is not an event of its wire."""

    reason = "stream"
