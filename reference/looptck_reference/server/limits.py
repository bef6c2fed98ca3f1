"""The limits of a server. Sizes are bytes, times are seconds."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Limits"]

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """All limits. The defaults of times and of the number of sessions are those of mistral.rs."""

    body: int = 16 * MIB
    """The body of a request."""
    reply: int = 16 * MIB
    """The model's reply to one inference."""
    tool_result: int = MIB
    run: int = 32 * MIB
    """All tool results of a run together."""
    runs: int = 512
    """The number of runs at the same time; one more is refused."""
    sessions: int = 128
    session_bytes: int = 256 * MIB
    session_ttl: float = 30 * 60
    files: int = 1024
    file_bytes: int = 256 * MIB
    request_files: int = 64 * MIB
    """All input files of a request together."""
    file_ttl: float = 30 * 60
    approval_timeout: float = 300
    dispatch_timeout: float = 30
    upstream_timeout: float = 600
    callback_timeout: float = 300
    keep_alive: float = 10
    """The time between two comments in a stream without events."""
