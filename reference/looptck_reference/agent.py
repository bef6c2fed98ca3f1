"""What is run: a model, a conversation so far, and the tools it may use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from looptck_reference.tools import Tool
from looptck_reference.values import Json

__all__ = ["Agent"]


@dataclass(frozen=True, slots=True)
class Agent:
    """The caller's side of a run. Nothing in it is ever changed, so one agent serves any number of runs.

    `options` are those of the model, temperature for instance, in the words of the wire's API.
    """

    model: str
    messages: Sequence[Json]
    tools: Sequence[Tool] = ()
    inputs: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    mcp_servers: Mapping[str, str] = field(default_factory=dict)
    """URLs by name; their tools are the provider's to offer and to call."""
    search: bool = False
    """Whether the provider may search the web by itself."""

    def __post_init__(self) -> None:
        names = [tool.name for tool in self.tools]
        if len(set(names)) < len(names):
            message = f"two tools of the agent have one name, so the model cannot tell them apart: {sorted(names)}"
            raise ValueError(message)
