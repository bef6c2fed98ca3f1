"""MCP servers: named in every request where the wire has words for them, and refused before it where it has none."""

from __future__ import annotations

import json

import httpx
import pytest
import respx

from looptck_reference import ANTHROPIC_MESSAGES, OPENAI_CHAT, OPENAI_RESPONSES, Agent, Tool, Wire
from looptck_reference.errors import NotOnThisWire
from meta.reference.reference_provider import Run
from meta.reference.reference_replies import QUESTION, URL

SERVERS = {"maps": "https://maps.test/mcp", "mail": "https://mail.test/mcp"}
REPLY = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "x"}], "stop_reason": "end_turn"}


@respx.mock
@pytest.mark.parametrize("servers", [SERVERS, {}])
def test_servers_and_their_toolsets_stand_in_the_request(run: Run, servers: dict[str, str]) -> None:
    """Beside the agent's own tools, with the beta that they need; nothing of it without servers."""
    route = respx.post(f"{URL}/messages").mock(return_value=httpx.Response(200, json=REPLY))

    run(Agent("m", [QUESTION], [Tool("weather")], mcp_servers=servers), ANTHROPIC_MESSAGES)

    request = route.calls.last.request
    body = json.loads(request.content)
    toolsets = [{"type": "mcp_toolset", "mcp_server_name": name} for name in servers]
    assert toolsets == body["tools"][1:]
    assert [{"type": "url", "name": name, "url": url} for name, url in servers.items()] == body.get("mcp_servers", [])
    assert bool(servers) is request.headers.get("anthropic-beta", "").startswith("mcp-client-")


@respx.mock
@pytest.mark.parametrize("wire", [OPENAI_CHAT, OPENAI_RESPONSES])
def test_other_wires_refuse_them(run: Run, wire: Wire) -> None:
    """Nothing is sent, and the servers are named."""
    with pytest.raises(NotOnThisWire, match=r"names no MCP servers here; leave them out: \['mail', 'maps'\]"):
        run(Agent("m", [QUESTION], mcp_servers=SERVERS), wire)
