"""The tools of servers, as an agent has them beside its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.tools import Handler, Tool

__all__ = ["Served"]


@dataclass(frozen=True, slots=True)
class Served:
    """The tools of all servers, and their handlers by the names of the tools."""

    tools: Sequence[Tool] = ()
    handlers: Mapping[str, Handler] = field(default_factory=dict)

    def joined(self, agent: Agent) -> Agent:
        """The agent with these tools beside its own."""
        return replace(agent, tools=[*agent.tools, *self.tools]) if self.tools else agent
