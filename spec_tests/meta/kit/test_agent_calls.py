"""A call on another agent is found in what a request offers, however a framework names it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from looptck.bench.agent_calls import agent_call, renamed
from looptck.values.history import Offered
from looptck.values.team import AgentTool, Way

TEXT = {"type": "string"}
TEXTS = {"anyOf": [{"type": "array", "items": TEXT}, {"type": "null"}]}
SPOKEN = {"properties": {"role": {"enum": ["user"]}, "content": TEXT, "id": TEXT}, "required": ["role", "content"]}
TASK = "See about it."


def _tool(name: str, description: str = "", required: tuple[str, ...] = (), **parameters: Any) -> Offered:
    return Offered(name, description, {"type": "object", "properties": parameters, "required": list(required)})


OWN = _tool("lookup", "Finds billing addresses.", ("agent",), agent=TEXT)
TOOLS: list[tuple[Way, Offered, str, dict[str, Any]]] = [
    ("handoff", _tool("transfer_to_billing"), "transfer_to_billing", {}),
    ("handoff", _tool("Handoff-transfer_to_Billing"), "Handoff-transfer_to_Billing", {}),
    (
        "handoff",
        _tool("handoff_to_billing", "", ("reason",), reason=TEXT, count={"type": "integer"}),
        "handoff_to_billing",
        {"reason": TASK},
    ),
    (
        "handoff",
        _tool("transfer_to_agent", "", ("agent_name",), agent_name={**TEXT, "enum": ["travel", "billing"]}),
        "transfer_to_agent",
        {"agent_name": "billing"},
    ),
    (
        "handoff",
        _tool("handoff", "Hands over.", ("agent_name", "message"), agent_name=TEXT, message=TEXT, context={}),
        "handoff",
        {"agent_name": "billing", "message": TASK},
    ),
    ("subagent", _tool("billing", "", ("input",), input=TEXT), "billing", {"input": TASK}),
    (
        "subagent",
        _tool("delegate", "Members: travel, billing.", ("member_id", "task"), member_id=TEXT, task=TEXT),
        "delegate",
        {"member_id": "billing", "task": TASK},
    ),
    (
        "subagent",
        _tool("billing", "", ("task", "more"), task=TEXT, more={"type": "object"}),
        "billing",
        {"task": TASK, "more": {}},
    ),
    (
        "subagent",
        _tool("delegate_task", "", ("task", "targetAgents"), task=TEXT, targetAgents={"type": "array", "items": TEXT}),
        "delegate_task",
        {"task": TASK, "targetAgents": ["billing"]},
    ),
    (
        "subagent",
        _tool(
            "delegate_to", "", ("to",), to={"type": "array", "items": {"enum": ["travel", "billing"]}}, prompts=TEXTS
        ),
        "delegate_to",
        {"to": ["billing"], "prompts": [TASK]},
    ),
    (
        "subagent",
        _tool("send_to_billing", "", ("message",), message={"type": "object", **SPOKEN}),
        "send_to_billing",
        {"message": {"role": "user", "content": TASK}},
    ),
    (
        "subagent",
        _tool("chat_billing", "", ("messages",), messages={"type": "array", "items": {"type": "object", **SPOKEN}}),
        "chat_billing",
        {"messages": [{"role": "user", "content": TASK}]},
    ),
]


@pytest.mark.parametrize(("way", "tool", "name", "arguments"), TOOLS, ids=[one[1].name for one in TOOLS])
def test_call_is_made_from_the_offer(way: Way, tool: Offered, name: str, arguments: dict[str, Any]) -> None:
    """The agent is named where the tool takes it, and its task stands in a parameter for texts."""
    call = agent_call([OWN, tool], [OWN], "billing", TASK, way, None)

    assert call is not None
    assert (name, arguments) == (call.tool, json.loads(call.arguments))


def test_nothing_fits() -> None:
    """A tool of the case is none for an agent, and one for another agent neither."""
    assert None is agent_call([OWN, _tool("transfer_to_travel")], [OWN], "billing", TASK, "handoff", None)


def test_way_decides_between_two() -> None:
    """Of two tools with the agent's name the one that hands over is for handoffs."""
    tools = [_tool("ask_billing", "", ("q",), q=TEXT), _tool("transfer_to_billing")]

    found = [agent_call(tools, [], "billing", TASK, way, None) for way in ("handoff", "subagent")]

    assert ["transfer_to_billing", "ask_billing"] == [call.tool for call in found if call is not None]


def test_declared_tool_needs_no_name() -> None:
    """A declared tool is called as declared, where the request offers it."""
    declared = AgentTool.of({"tool": "switch", "arguments": {"to": "{agent}", "say": ["{input}"], "n": 1}})

    call = agent_call([_tool("switch")], [], "billing", TASK, "handoff", declared)

    assert call is not None
    assert {"to": "billing", "say": [TASK], "n": 1} == json.loads(call.arguments)
    assert None is agent_call([_tool("other")], [], "billing", TASK, "handoff", declared)


def test_stranger_takes_the_place_of_the_agent() -> None:
    """A call on an agent that there is not has its name in place of the other."""
    call = agent_call([_tool("transfer_to_billing")], [], "billing", TASK, "handoff", None)

    assert call is not None
    assert "transfer_to_nowhere" == renamed(call, "billing", "nowhere").tool
