"""MCP servers: the members of requests that name them, and their headers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from looptck_mutants.cells import MESSAGES
from looptck_mutants.parts import breaks
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.values import Json
from looptck_reference.wires import MessagesWire


@breaks("claude-mcp-servers-are-named", cells=MESSAGES)
class ServersWithoutPaths(MessagesWire):
    """Removes the paths from the URLs of MCP servers."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        body = super().request(agent, history, stream=stream)
        servers = [{**server, "url": server["url"].rpartition("/")[0]} for server in body.get("mcp_servers", ())]
        return {**body, "mcp_servers": servers} if servers else body


@breaks("claude-mcp-toolsets-are-offered", cells=MESSAGES)
class ToolsetsMissing(MessagesWire):
    """Sends the MCP servers without their toolsets."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        body = super().request(agent, history, stream=stream)
        return {**body, "tools": [tool for tool in body.get("tools", ()) if tool.get("type") != "mcp_toolset"]}


@breaks("claude-mcp-stands-beside-tools", cells=MESSAGES)
class ToolsetsAlone(MessagesWire):
    """Does not offer the agent's own tools if there are MCP servers."""

    def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
        body = super().request(agent, history, stream=stream)
        toolsets = [tool for tool in body.get("tools", ()) if tool.get("type") == "mcp_toolset"]
        return {**body, "tools": toolsets} if toolsets else body


@breaks("claude-mcp-beta-is-asked-for", cells=MESSAGES)
class BetaOutdated(MessagesWire):
    """Sends toolsets with a beta header of a connector version that does not know them."""

    def headers_for(self, agent: Agent) -> Mapping[str, str]:
        return dict.fromkeys(super().headers_for(agent), "mcp-client-2025-04-04")
