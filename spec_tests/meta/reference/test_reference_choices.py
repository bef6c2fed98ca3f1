"""The reference's choice of tools: its members in each wire's request, and how long it holds."""

from __future__ import annotations

import pytest

from looptck_reference import ANTHROPIC_MESSAGES, OPENAI_CHAT, OPENAI_RESPONSES, Agent, Choice, Tool, Wire
from looptck_reference.vocabulary.values import Json

WIRES: dict[str, Wire] = {"chat": OPENAI_CHAT, "responses": OPENAI_RESPONSES, "messages": ANTHROPIC_MESSAGES}
SINGLE = {"disable_parallel_tool_use": True}
CHAT_NAME = {"type": "function", "function": {"name": "local_time"}}
MEMBERS = [
    (Choice(), {}, {}, {}),
    (Choice("required"), {"tool_choice": "required"}, {"tool_choice": "required"}, {"tool_choice": {"type": "any"}}),
    (Choice("none"), {"tool_choice": "none"}, {"tool_choice": "none"}, {"tool_choice": {"type": "none"}}),
    (
        Choice(tool="local time"),
        {"tool_choice": CHAT_NAME},
        {"tool_choice": {"type": "function", "name": "local_time"}},
        {"tool_choice": {"type": "tool", "name": "local_time"}},
    ),
    (
        Choice(single=True),
        {"parallel_tool_calls": False},
        {"parallel_tool_calls": False},
        {"tool_choice": {"type": "auto", **SINGLE}},
    ),
    (
        Choice("required", single=True),
        {"tool_choice": "required", "parallel_tool_calls": False},
        {"tool_choice": "required", "parallel_tool_calls": False},
        {"tool_choice": {"type": "any", **SINGLE}},
    ),
    (
        Choice("none", single=True),
        {"tool_choice": "none", "parallel_tool_calls": False},
        {"tool_choice": "none", "parallel_tool_calls": False},
        {"tool_choice": {"type": "none"}},
    ),
]
"""Choices, and their members on Chat, on Responses and on Messages."""


def _agent(choice: Choice, *, tools: bool = True) -> Agent:
    time = Tool(name="local time", description="Tells the time.", parameters={"type": "object", "properties": {}})
    return Agent(model="m", messages=[], tools=[time] if tools else [], choice=choice)


def _members(wire: Wire, agent: Agent) -> Json:
    body = wire.request(agent, [], stream=False)
    return {name: body[name] for name in ("tool_choice", "parallel_tool_calls") if name in body}


@pytest.mark.parametrize(("choice", "chat", "responses", "messages"), MEMBERS, ids=[str(row[0]) for row in MEMBERS])
def test_choice_is_in_the_form_of_the_wire(choice: Choice, chat: Json, responses: Json, messages: Json) -> None:
    """A choice is written under the name that is offered; the default is not written at all."""
    agent = _agent(choice)

    assert [chat, responses, messages] == [_members(wire, agent) for wire in WIRES.values()]


@pytest.mark.parametrize("wire", WIRES.values(), ids=WIRES)
def test_no_choice_without_tools(wire: Wire) -> None:
    """A request that offers no tools has no choice of them."""
    assert {} == _members(wire, _agent(Choice("required", single=True), tools=False))


def test_a_round_ends_what_was_forced() -> None:
    """A forced call is for one round; what is forbidden stays forbidden."""
    assert Choice(single=True) == _agent(Choice("required", single=True)).after_a_round.choice
    assert Choice() == _agent(Choice(tool="local time")).after_a_round.choice
    assert Choice("none") == _agent(Choice("none")).after_a_round.choice


def test_a_tool_that_is_not_there_cannot_be_chosen() -> None:
    """The caller learns of it at once."""
    with pytest.raises(ValueError, match="cannot call weather"):
        _agent(Choice(tool="weather"))
