"""An MCP server as a check describes it: its tools, and how it speaks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from looptck.values.frozen import dataclass

REVISIONS = ("2025-11-25", "2025-06-18", "2025-03-26")
"""The revisions with a handshake and streamable HTTP, the latest first."""
NAMED_IN_A_HEADER = frozenset(REVISIONS[:2])
"""Those in which each request after the handshake names its revision in a header."""
STATELESS = "2026-07-28"
"""The revision without a handshake: each request says for itself which one it speaks."""
NOTHING: Mapping[str, Any] = {"type": "object", "properties": {}}
"""The schema of a tool without parameters, as every service accepts it."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a server lists. ``schema`` is the JSON Schema of its arguments; without a description it has none."""

    name: str
    description: str = ""
    schema: Mapping[str, Any] = field(default_factory=lambda: NOTHING)

    @property
    def listed(self) -> dict[str, Any]:
        """The tool in a list of tools."""
        about = {"description": self.description} if self.description else {}
        return {"name": self.name, **about, "inputSchema": dict(self.schema)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server. ``name`` is what the loop's caller calls it."""

    name: str = "town"
    tools: tuple[Tool, ...] = ()
    page: int = 0
    """How many tools it lists at a time; 0: all."""
    cursor: str | None = None
    """The cursor of its second page; None: one that is hard to read for others."""
    streams: bool = False
    """Whether it answers requests with an event stream, and not with JSON."""
    named: bool = True
    """Whether its events have the name `message`, which an event without a name has too."""
    revisions: tuple[str, ...] = REVISIONS
    """The revisions with a handshake that it speaks, the latest first."""
    stateless: bool = True
    """Whether it speaks `STATELESS` too, as a server does that is there for all clients."""
    has_tools: bool = True
    """Whether it says that it has tools."""
    sessions: bool = True
    """Whether it begins sessions; otherwise no message has the id of one."""
    refuses: int | None = None
    """The HTTP status with which it refuses everything."""

    @property
    def capabilities(self) -> dict[str, Any]:
        """What it declares."""
        return {"tools": {}} if self.has_tools else {"prompts": {}}
