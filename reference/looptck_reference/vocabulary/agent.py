"""An agent: a model, the messages that a run begins with, and the tools it may use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from looptck_reference.vocabulary.choice import Choice
from looptck_reference.vocabulary.names import offered_names
from looptck_reference.vocabulary.output import Output
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
    instructions: str = ""
    """What is sent in front of the messages, and is no part of a conversation: it changes with the agent."""
    options: Mapping[str, Any] = field(default_factory=dict)
    choice: Choice = field(default_factory=Choice)
    output: Output | None = None
    """The value that ends the run; None: a text ends it."""
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
        if self.choice.tool not in {None, *names}:
            raise ValueError(f"the model cannot call {self.choice.tool}, since the agent has only {sorted(names)}")
        as_offered = offered_names(names)
        object.__setattr__(self, "offered", {as_offered[tool.name]: tool for tool in self.tools})

    @property
    def has_to_call(self) -> str | None:
        """The name under which the provider is offered the tool that the model has to call."""
        return next((name for name, tool in self.offered.items() if tool.name == self.choice.tool), None)

    @property
    def after_a_round(self) -> Agent:
        """The agent for the requests after a round of tools: a call that was forced was made."""
        free = self.choice.after_a_round
        return self if free is self.choice else replace(self, choice=free)
