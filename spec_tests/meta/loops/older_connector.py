"""A loop that names MCP servers in the form of the older connector: with its beta header, and without toolsets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from looptck_mutants.parts import speaking
from looptck_reference.kit.driver import Driver
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.values import Json
from looptck_reference.wires import MessagesWire


class OlderConnector(Driver):
    """Is correct as long as the service accepts this form."""

    class Wire(MessagesWire):
        def headers_for(self, agent: Agent) -> Mapping[str, str]:
            return dict.fromkeys(super().headers_for(agent), "mcp-client-2025-04-04")

        def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
            body = super().request(agent, history, stream=stream)
            return {**body, "tools": [tool for tool in body.get("tools", ()) if tool.get("type") != "mcp_toolset"]}

    wires = speaking(messages=Wire())
