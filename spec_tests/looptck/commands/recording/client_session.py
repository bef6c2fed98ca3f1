"""A session with a model on any wire: requests one after the other, and results for the calls that the model makes."""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from typing import Any, Protocol

from looptck.catalogue.agents import Tool
from looptck.values.frozen import dataclass

NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Without certificates: clients connect to the proxy only, and loading the usual certificates takes 20 ms."""


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """What all requests of a session have in common."""

    base_url: str
    """It ends in ``/v1``."""
    key: str
    patience: float
    model: str
    messages: Sequence[tuple[str, str]]
    """Roles and texts of the prompt."""
    tools: Sequence[Tool]
    stream: bool
    vendor: bool
    """Whether the upstream is the vendor itself. Its reasoning models refuse ``max_tokens`` and
    ``parallel_tool_calls``, which is true by default; other servers need both."""


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """The options of one request."""

    most: int
    """The most tokens of the reply."""
    choice: str | None = None
    """``required``, ``none`` or a tool's name."""
    stop: str | None = None
    """A stop sequence."""


@dataclass(frozen=True, slots=True)
class RequestedCall:
    """A call by the model; ``arguments`` is JSON text."""

    id: str
    tool: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What its tool returned or, if ``failed``, raised."""

    asked: RequestedCall
    text: str
    failed: bool


class ClientSession(Protocol):
    """A session in progress. The model's turns are sent back to it as the vendor's documentation shows."""

    def ask(self, options: RequestOptions) -> list[RequestedCall]:
        """Ask the model; the calls of a turn that was not cut."""

    def answer(self, results: Sequence[ToolResult]) -> None:
        """Put the results of a turn's calls into the history."""

    def close(self) -> None:
        """Close the connections."""


def tool_description(tool: Tool) -> dict[str, Any]:
    """A tool in OpenAI's format."""
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
