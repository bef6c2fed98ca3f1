"""The loop's errors, named after what the caller has to do about them.

Each error has a `reason`, a word from a closed list, so that programs need not parse messages.
"""

from __future__ import annotations

from typing import ClassVar, Literal

__all__ = [
    "AsyncToolInSyncRun",
    "BadArguments",
    "BadOutput",
    "Cancelled",
    "ChildCalledTools",
    "ConnectionLost",
    "LimitReached",
    "LoopError",
    "MalformedReply",
    "NotOnThisWire",
    "OutOfTurn",
    "ProviderError",
    "Reason",
    "Refused",
    "StreamBroken",
    "Suspended",
    "TurnCut",
    "UnknownModel",
    "UnknownTool",
]

Reason = Literal[
    "limit", "tool", "unknown-tool", "arguments", "provider", "stream", "truncated", "refusal", "cancelled", "other"
]


class LoopError(Exception):
    """Any error of the loop itself; a tool's exception is not one."""

    reason: ClassVar[Reason] = "other"


class OutOfTurn(LoopError):
    """The runner reported an event that the loop was not waiting for: an error of the runner."""


class Suspended(LoopError):
    """The answer of a run was asked for that waits for decisions; the loop's `end` has its calls and its state."""


class Cancelled(LoopError):
    """The caller cancelled the run, or left its stream."""

    reason = "cancelled"


class LimitReached(LoopError):
    """The iteration limit was used up before the model had answered."""

    reason = "limit"


class TurnCut(LoopError):
    """A turn with tool calls was cut off, so its calls were not run."""

    reason = "truncated"


class UnknownTool(LoopError, LookupError):
    """The model called a tool for which no handler is registered."""

    reason = "unknown-tool"


class NotOnThisWire(LoopError, ValueError):
    """An agent asks for a feature that the provider's API does not have."""


class UnknownModel(LoopError, ValueError):
    """A prompt names an unknown provider, API or option, or there is no key."""


class ChildCalledTools(LoopError):
    """The model of a prompt that runs as a tool, in the mode single, called tools."""

    reason = "tool"


class BadArguments(LoopError, ValueError):
    """The arguments of a call are not a JSON object."""

    reason = "arguments"


class BadOutput(LoopError, ValueError):
    """The model gave no output that fits the schema of the caller, however often it was asked."""

    reason = "provider"


class Refused(LoopError):
    """The model declined to give the output that the caller wants."""

    reason = "refusal"


class AsyncToolInSyncRun(LoopError, TypeError):
    """A tool's handler is asynchronous and the runner is not."""

    reason = "tool"


class MalformedReply(LoopError):
    """The provider sent a reply that its wire does not allow."""

    reason = "provider"


class ProviderError(LoopError):
    """The provider reported a failure: an HTTP status, or an error object in a reply or a stream."""

    reason = "provider"

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class ConnectionLost(LoopError):
    """There was no connection to the provider, or it broke before the reply was complete."""

    reason = "provider"


class StreamBroken(LoopError):
    """The event stream ended too early or contained data that is no event of its wire."""

    reason = "stream"
