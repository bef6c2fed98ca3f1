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

from looptck.bench.offers import definition
from looptck.values.history import Offered
from looptck.values.team import AgentTool, Way
from looptck.values.turns import Call

_AGENT = re.compile(r"agent|member|coworker|colleague|recipient|target|worker|\bto\b|assistant|expert", re.IGNORECASE)
"""Names of parameters that take an agent."""
_TASK = re.compile(r"input|task|message|prompt|request|query|question|instruct|content|text", re.IGNORECASE)
"""Names of parameters that take what the agent is asked."""
_OVER = re.compile(r"hand.?off|hand.?over|transfer|switch|escalate|route", re.IGNORECASE)
"""Names of tools that hand a conversation over."""
_BLANK: Mapping[str, Any] = {"string": "as asked", "object": {}, "array": [], "boolean": False, "null": None}


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
    listed = [tool for tool in tools if any(_lists(one, agent) for one in _parameters(tool).values())]
    about = [tool for tool in tools if _names(tool.description, agent) and _place(tool, agent) is not None]
    silent = [tool for tool in tools if _place(tool, agent) is not None]
    found = named or listed or about or (silent if len(silent) == 1 else [])
    return sorted(found, key=lambda tool: bool(_OVER.search(tool.name)) != (way == "handoff"))


def _names(text: str, agent: str) -> bool:
    return agent in text.lower()


def _lists(parameter: Mapping[str, Any], agent: str) -> bool:
    """Whether an agent is among the values of a parameter."""
    return any(_names(str(value), agent) for value in _values(parameter))


def _values(parameter: Mapping[str, Any]) -> list[Any]:
    inner = [value for key in ("anyOf", "oneOf") for one in parameter.get(key, ()) for value in _values(one)]
    return [*parameter.get("enum", ()), *([parameter["const"]] if "const" in parameter else []), *inner]


def _parameters(tool: Offered) -> dict[str, Mapping[str, Any]]:
    """The parameters of a tool by name, with their definitions in place of references."""
    schema = tool.parameters if isinstance(tool.parameters, dict) else {}
    found = {name: one for name, one in schema.get("properties", {}).items() if isinstance(one, dict)}
    return {name: definition(one["$ref"], schema) if "$ref" in one else one for name, one in found.items()}


def _place(tool: Offered, agent: str) -> str | None:
    """The parameter that takes the agent's name."""
    parameters = _parameters(tool)
    listed = next((name for name, one in parameters.items() if _lists(one, agent)), None)
    return listed or next((name for name, one in parameters.items() if _AGENT.search(name) and _is_text(one)), None)


def _is_text(parameter: Mapping[str, Any]) -> bool:
    return "string" in _types(parameter)


def _types(parameter: Mapping[str, Any]) -> list[str]:
    said = parameter.get("type", [])
    inner = [type for key in ("anyOf", "oneOf") for one in parameter.get(key, ()) for type in _types(one)]
    return [*([said] if isinstance(said, str) else said), *inner]


def _call(tool: Offered, agent: str, input: str) -> Call:
    """The call: the agent where a parameter takes it, what it is asked, and whatever else is required."""
    parameters = _parameters(tool)
    required = [name for name in tool.parameters.get("required", ()) if name in parameters] if parameters else []
    place = None if _names(tool.name, agent) else _place(tool, agent)
    texts = [name for name, one in parameters.items() if name != place and _is_text(one) and not _values(one)]
    texts.sort(key=lambda name: (_TASK.search(name) is None, name not in required))
    arguments = {name: _blank(parameters[name]) for name in required}
    if texts:
        arguments[texts[0]] = input
    if place is not None:
        listed = (value for value in _values(parameters[place]) if _names(str(value), agent))
        arguments[place] = next(listed, agent)
    return Call(tool.name, json.dumps(arguments))


def _blank(parameter: Mapping[str, Any]) -> Any:
    """A value for a parameter that means nothing here."""
    if values := _values(parameter):
        return values[0]
    return next((_BLANK[type] for type in _types(parameter) if type in _BLANK), 0)
