"""An agent: a model, the messages that a run begins with, and the tools it may use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from looptck_reference.vocabulary.names import offered_names
from looptck_reference.vocabulary.tools import Tool
from looptck_reference.vocabulary.values import Json

__all__ = ["Agent"]


@dataclass(frozen=True, slots=True)
class Agent:
    """The caller's side of a run. An agent never changes, so one agent serves any number of runs at the same time.

    A run may have messages and inputs of its own in place of the agent's (`Loop`). Messages are in the wire's own form.
    Calls and results of earlier turns may also be in a form for all wires: `calls` in a message of the assistant, each
    with `id`, `name` and `arguments`, and `call_id` in a message of the role tool.

    `options` are model options such as temperature, in the form of the wire's API.
    """

    model: str
    messages: Sequence[Json]
    tools: Sequence[Tool] = ()
    inputs: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    mcp_servers: Mapping[str, str] = field(default_factory=dict)
    """URLs of MCP servers by name; the provider offers and calls their tools."""
    search: bool = False
    """Whether the provider may search the web itself."""
    hosted: Sequence[Json] = ()
    """Other tools that the provider runs itself, in the form of the wire's API."""
    offered: Mapping[str, Tool] = field(init=False, repr=False, compare=False)
    """The tools by the name under which the provider is offered them; it allows fewer names than an agent."""

    def __post_init__(self) -> None:
        names = [tool.name for tool in self.tools]
        if len(set(names)) < len(names):
            message = f"two tools of the agent have one name, so the model cannot tell them apart: {sorted(names)}"
            raise ValueError(message)
        as_offered = offered_names(names)
        object.__setattr__(self, "offered", {as_offered[tool.name]: tool for tool in self.tools})
