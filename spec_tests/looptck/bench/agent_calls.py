"""How a model calls on another agent: by whatever tool a request offers for it.

Loops name such tools as they like: ``transfer_to_billing``, ``ask_billing``, one tool with the agent as an argument. So
a script says whom a turn calls on, and the call is made from the request: by the tool that is none of the case's own
and has the agent's name in its own name, among the values of a parameter, or in its description; or else by the only
one that has a parameter for an agent. A driver declares what cannot be found so (`looptck.values.team.AgentTool`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from looptck.bench.agent_arguments import among, blank, named_in, parts_of, takes_text, with_text
from looptck.values.history import Offered
from looptck.values.team import AgentTool, Way
from looptck.values.turns import Call

_AGENT = re.compile(r"agent|member|coworker|colleague|recipient|target|worker|\bto\b|assistant|expert", re.IGNORECASE)
"""Names of parameters that take an agent."""
_TASK = re.compile(r"input|task|message|prompt|request|query|question|instruct|content|text", re.IGNORECASE)
"""Names of parameters that take what the agent is asked."""
_OVER = re.compile(r"hand.?off|hand.?over|transfer|switch|escalate|route", re.IGNORECASE)
"""Names of tools that hand a conversation over."""


def agent_call(
    tools: Sequence[Offered], own: Iterable[Offered], agent: str, input: str, way: Way, declared: AgentTool | None
) -> Call | None:
    """The call on an agent by what a request offers; None: it offers nothing for it.

    Args:
        tools: What the request offers.
        own: Those of them that are tools of the case.
        agent: The name of the agent.
        input: What it is asked.
        way: How it is called on.
        declared: What the driver declares of such calls.
    """
    if declared is not None:
        call = declared.call(agent, input)
        return call if any(tool.name == call.tool for tool in tools) else None
    kept = [*own]
    others = [tool for tool in tools if tool not in kept]
    return next((_call(tool, agent, input) for tool in _fitting(others, agent, way)), None)


def renamed(call: Call, agent: str, stranger: str) -> Call:
    """The same call on another agent."""
    return Call(call.tool.replace(agent, stranger), call.arguments.replace(agent, stranger))


def _fitting(tools: Sequence[Offered], agent: str, way: Way) -> list[Offered]:
    """The tools that may be meant, the best first."""
    named = [tool for tool in tools if _names(tool.name, agent)]
    listed = [tool for tool in tools if _lists(tool, agent)]
    about = [tool for tool in tools if _names(tool.description, agent) and _place(tool, agent) is not None]
    silent = [tool for tool in tools if _place(tool, agent) is not None]
    found = named or listed or about or (silent if len(silent) == 1 else [])
    return sorted(found, key=lambda tool: bool(_OVER.search(tool.name)) != (way == "handoff"))


def _names(text: str, agent: str) -> bool:
    return agent in text.lower()


def _lists(tool: Offered, agent: str) -> bool:
    """Whether an agent is among the values of a parameter."""
    return any(named_in(one, tool.parameters, agent) is not None for one in _parameters(tool).values())


def _parameters(tool: Offered) -> dict[str, Mapping[str, Any]]:
    """The parameters of a tool by name, with their definitions in place of references."""
    return parts_of(tool.parameters, tool.parameters)


def _place(tool: Offered, agent: str) -> str | None:
    """The parameter that takes the agent's name, alone or in a list."""
    parameters = _parameters(tool)
    listed = next((name for name, one in parameters.items() if named_in(one, tool.parameters, agent) is not None), None)
    texts = (name for name, one in parameters.items() if _AGENT.search(name) and takes_text(one, tool.parameters))
    return listed or next(texts, None)


def _call(tool: Offered, agent: str, input: str) -> Call:
    """The call: the agent where a parameter takes it, what it is asked, and whatever else is required.

    What it is asked goes into a text, or else into a list or an object that has room for one.
    """
    parameters, schema = _parameters(tool), tool.parameters
    required = [name for name in parameters if name in schema.get("required", ())]
    place = None if _names(tool.name, agent) else _place(tool, agent)
    given = {name: with_text(one, schema, input, _TASK) for name, one in parameters.items() if name != place}
    rooms = [name for name, value in given.items() if value is not None]
    rooms.sort(key=lambda name: (not isinstance(given[name], str), _TASK.search(name) is None, name not in required))
    arguments = {name: blank(parameters[name], schema) for name in required}
    if rooms:
        arguments[rooms[0]] = given[rooms[0]]
    if place is not None:
        arguments[place] = named_in(parameters[place], schema, agent) or among(parameters[place], schema, agent)
    return Call(tool.name, json.dumps(arguments))
