"""Anthropic Messages: requests, echoes, results and plain replies."""

from __future__ import annotations

from typing import Any

import pytest

from looptck_reference import (
    ANTHROPIC_MESSAGES,
    Agent,
    MalformedReply,
    ProviderError,
    Stop,
    Tool,
    ToolCall,
)
from meta.reference.reference_messages import (
    FOUND,
    HOLOGRAM,
    MCP,
    MCP_RESULT,
    REDACTED,
    SEARCH,
    THINKING,
    message,
    text,
    tool_use,
)
from meta.reference.reference_replies import QUESTION, Json

ALL = [
    THINKING,
    REDACTED,
    text("I look."),
    SEARCH,
    FOUND,
    MCP,
    MCP_RESULT,
    HOLOGRAM,
    tool_use(caller={"type": "direct"}),
]


def request(*messages: Json, tools: tuple[Tool, ...] = (), stream: bool = False) -> Json:
    """The body of a first request."""
    opening = ANTHROPIC_MESSAGES.opening(messages)
    return ANTHROPIC_MESSAGES.request(Agent("m", messages, tools), opening, stream=stream)


def test_the_smallest_request() -> None:
    """The API has no default for the limit, so one is sent."""
    assert {"model": "m", "max_tokens": 4096, "messages": [QUESTION]} == request(QUESTION)
    assert {**request(QUESTION), "stream": True} == request(QUESTION, stream=True)


def test_system_messages_stand_at_the_top() -> None:
    """There is no such role among the messages; several of them stay apart."""
    brief, polite = ({"role": "system", "content": said} for said in ("Be brief.", "Be polite."))

    assert "Be brief." == request(brief, QUESTION)["system"]
    several = request(brief, QUESTION, polite)
    assert [{"type": "text", "text": "Be brief."}, {"type": "text", "text": "Be polite."}] == several["system"]
    assert [QUESTION] == several["messages"]


@pytest.mark.parametrize("parameters", [{}, {"type": "object"}])
def test_a_schema_is_an_objects(parameters: Json) -> None:
    """The API refuses a schema that does not say so."""
    [offered] = request(QUESTION, tools=(Tool("ping", "Pings.", parameters),))["tools"]

    assert {"name": "ping", "description": "Pings.", "input_schema": {"type": "object", "properties": {}}} == offered


def test_calls_are_read() -> None:
    """Text of all text blocks, and the client's calls only."""
    turn = ANTHROPIC_MESSAGES.decode(message(*ALL, text("!"), stop="tool_use"))

    assert ("I look.!", Stop.CALLS) == (turn.text, turn.stop)
    assert [ToolCall("toolu_1", "weather", '{"city": "Paris"}')] == list(turn.calls)
    assert {"input_tokens": 3, "output_tokens": 9} == turn.usage


@pytest.mark.parametrize("more", [{}, {"request_id": "req_1"}])
def test_an_error_may_come_with_status_200(more: Json) -> None:
    """An error object is an error whatever the status was, in the provider's words."""
    with pytest.raises(ProviderError, match="overloaded"):
        ANTHROPIC_MESSAGES.decode({"type": "error", "error": {"type": "x", "message": "overloaded"}, **more})


@pytest.mark.parametrize(
    "reply",
    [
        {},
        {"content": "x"},
        {"content": ["x"]},
        {"content": [], "stop_reason": 5},
        message({"type": "text", "text": ["x"]}),
        message(tool_use(call_id=""), stop="tool_use"),
        message(tool_use(name=""), stop="tool_use"),
    ],
    ids=repr,
)
def test_what_cannot_be_understood_is_not_ignored(reply: dict[str, Any]) -> None:
    """A reply without blocks, or with calls that could not be answered, fails loudly."""
    with pytest.raises(MalformedReply):
        ANTHROPIC_MESSAGES.decode(reply)


def test_the_stub_of_a_cut_call_is_no_malformed_reply() -> None:
    """A call that was cut before its name is still reported as cut, not as malformed."""
    assert Stop.LENGTH is ANTHROPIC_MESSAGES.decode(message(tool_use(name=""), stop="max_tokens")).stop
