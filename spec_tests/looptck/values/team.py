"""Several agents of one run: each with its instructions and tools, and the agents that it may call on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from looptck.values.frozen import dataclass
from looptck.values.turns import Call

Way = Literal["handoff", "subagent"]
"""How an agent calls on another: it hands the conversation over, or it has a task done as by a tool."""


@dataclass(frozen=True, slots=True)
class Member:
    """One of several agents. `tools` names tools of the case, `handoffs` and `subagents` name agents."""

    name: str
    description: str
    instructions: str
    tools: Sequence[str] = ()
    handoffs: Sequence[str] = ()
    subagents: Sequence[str] = ()

    def serializable(self) -> dict[str, Any]:
        """As a case has it."""
        return {
            "name": self.name,
            "description": self.description,
            "instructions": self.instructions,
            "tools": list(self.tools),
            "handoffs": list(self.handoffs),
            "subagents": list(self.subagents),
        }


@dataclass(frozen=True, slots=True)
class AgentTool:
    """A part of the member ``agent_tools`` of a driver's declaration: a call with places for agent and input."""

    tool: str
    arguments: Mapping[str, Any]

    @classmethod
    def of(cls, message: Mapping[str, Any]) -> AgentTool:
        """From its form in ``started``, which the schema has accepted."""
        return cls(message["tool"], message["arguments"])

    def serializable(self) -> dict[str, Any]:
        """As a JSON object."""
        return {"tool": self.tool, "arguments": dict(self.arguments)}

    def call(self, agent: str, input: str) -> Call:
        """The call on an agent, with what it is asked."""
        return Call(_filled(self.tool, agent, input), json.dumps(_filled(self.arguments, agent, input)))


def _filled(value: Any, agent: str, input: str) -> Any:
    """A value with its places filled in."""
    match value:
        case str():
            return value.replace("{agent}", agent).replace("{input}", input)
        case Mapping():
            return {name: _filled(one, agent, input) for name, one in value.items()}
        case list():
            return [_filled(one, agent, input) for one in value]
    return value
