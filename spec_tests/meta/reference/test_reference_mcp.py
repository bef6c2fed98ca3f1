"""MCP servers: named in every request where the wire has words for them, and refused before it where it has none."""

from __future__ import annotations

import json

import httpx
import pytest
import respx

from looptck_reference import ANTHROPIC_MESSAGES, OPENAI_RESPONSES, Agent, Tool, Wire
from looptck_reference.vocabulary.values import Json
from meta.reference.reference_provider import Run
from meta.reference.reference_replies import QUESTION, URL

SERVERS = {"maps": "https://maps.test/mcp", "mail": "https://mail.test/mcp"}
REPLY = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "x"}], "stop_reason": "end_turn"}


ANSWER = {
    "object": "response",
    "status": "completed",
    "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]}],
}


@respx.mock
def test_servers_are_tools_of_responses(run: Run) -> None:
    """Each is a tool of its own there, and nobody is asked before one is called."""
    route = respx.post(f"{URL}/responses").mock(return_value=httpx.Response(200, json=ANSWER))

    run(Agent("m", [QUESTION], mcp_servers=SERVERS), OPENAI_RESPONSES)

    told = json.loads(route.calls.last.request.content)["tools"]
    assert SERVERS == {tool["server_label"]: tool["server_url"] for tool in told}
    assert {("mcp", "never")} == {(tool["type"], tool["require_approval"]) for tool in told}


@respx.mock
@pytest.mark.parametrize(
    ("wire", "path", "reply", "tool"),
    [
        (ANTHROPIC_MESSAGES, "messages", REPLY, {"type": "web_search_20250305", "name": "web_search"}),
        (OPENAI_RESPONSES, "responses", ANSWER, {"type": "web_search"}),
    ],
)
def test_search_is_offered(run: Run, wire: Wire, path: str, reply: Json, tool: Json) -> None:
    """The service's own search stands behind the agent's tools where it is wanted, and nowhere else."""
    route = respx.post(f"{URL}/{path}").mock(return_value=httpx.Response(200, json=reply))

    for search in (True, False):
        run(Agent("m", [QUESTION], [Tool("weather")], search=search), wire)

    with_search, without = (json.loads(call.request.content)["tools"] for call in route.calls)
    assert [*without, tool] == with_search
