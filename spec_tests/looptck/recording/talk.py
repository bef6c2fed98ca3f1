"""What a talk with a model is, whatever the wire: one question after the other, and results for what it asks for."""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from looptck.agents import Tool

NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Trusts nobody: the clients talk to the proxy only, and to load whom one usually trusts takes 20 ms."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What is the same in all requests of a talk."""

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
    """Whether the upstream is the vendor itself. Its reasoning models refuse ``max_tokens`` and to be told of parallel
    calls, which is its default; other servers want to be told in the older words."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What one request says beside the history."""

    most: int
    """Tokens that the reply may have."""
    choice: str | None = None
    """``required``, ``none`` or a tool's name."""
    stop: str | None = None
    """A stop sequence."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A call of the model's; ``arguments`` is JSON text."""

    id: str
    tool: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Result:
    """What its tool returned or, if ``failed``, raised."""

    asked: Asked
    text: str
    failed: bool


class Talk(Protocol):
    """A talk in progress. What the model said goes back to it as the vendor's documentation shows it."""

    def ask(self, wish: Wish) -> list[Asked]:
        """Ask the model; the calls of a turn that was not cut."""

    def answer(self, results: Sequence[Result]) -> None:
        """Put the results of a turn's calls into the history."""

    def close(self) -> None:
        """Close the connections."""


def described(tool: Tool) -> dict[str, Any]:
    """A tool in OpenAI's words."""
    return {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
