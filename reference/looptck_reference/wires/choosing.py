"""The agent's choice of tools as members of a request that offers tools; none for what is the provider's default.

OpenAI has a member for several calls, Anthropic a member of the choice: to forbid them there takes a choice, if only of
the type `auto`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from looptck_reference.vocabulary.agent import Agent
    from looptck_reference.vocabulary.values import Json

__all__ = ["chat_choice", "messages_choice", "responses_choice"]

TYPES = {"auto": "auto", "required": "any", "none": "none"}


def chat_choice(agent: Agent) -> Json:
    """The members of Chat Completions."""
    name = agent.has_to_call
    return _openai(agent, None if name is None else {"type": "function", "function": {"name": name}})


def responses_choice(agent: Agent) -> Json:
    """The members of Responses, where a function is named without a level between."""
    name = agent.has_to_call
    return _openai(agent, None if name is None else {"type": "function", "name": name})


def messages_choice(agent: Agent) -> Json:
    """The member of Messages. What forbids every call says nothing of several."""
    name, mode = agent.has_to_call, agent.choice.mode
    choice: Json = {"type": TYPES[mode]} if name is None else {"type": "tool", "name": name}
    if agent.choice.single and choice["type"] != "none":
        return {"tool_choice": {**choice, "disable_parallel_tool_use": True}}
    return {} if choice == {"type": "auto"} else {"tool_choice": choice}


def _openai(agent: Agent, named: Json | None) -> Json:
    members: Json = {}
    if named is not None or agent.choice.mode != "auto":
        members["tool_choice"] = named or agent.choice.mode
    if agent.choice.single:
        members["parallel_tool_calls"] = False
    return members
