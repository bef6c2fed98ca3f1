"""MCP servers: what `MessagesWire` says of them in a request, and in its headers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from looptck_reference.agent import Agent
from looptck_reference.mutants.mutant import MESSAGES, Mutant
from looptck_reference.mutants.speaking import speaking
from looptck_reference.values import Json
from looptck_reference.wires import MessagesWire


class ServersWithoutPaths(Mutant):
    """Leaves the paths out of the URLs of MCP servers: `claude-mcp-servers-are-named`."""

    breaks = ("claude-mcp-servers-are-named",)
    cells = MESSAGES

    class Wire(MessagesWire):
        def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
            body = super().request(agent, history, stream=stream)
            servers = [{**server, "url": server["url"].rpartition("/")[0]} for server in body.get("mcp_servers", ())]
            return {**body, "mcp_servers": servers} if servers else body

    wires = speaking(messages=Wire())


class ToolsetsMissing(Mutant):
    """Offers no toolset of an MCP server: `claude-mcp-toolsets-are-offered`."""

    breaks = ("claude-mcp-toolsets-are-offered",)
    cells = MESSAGES

    class Wire(MessagesWire):
        def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
            body = super().request(agent, history, stream=stream)
            return {**body, "tools": [tool for tool in body.get("tools", ()) if tool.get("type") != "mcp_toolset"]}

    wires = speaking(messages=Wire())


class ToolsetsAlone(Mutant):
    """Offers none of its own tools where there are MCP servers: `claude-mcp-stands-beside-tools`."""

    breaks = ("claude-mcp-stands-beside-tools",)
    cells = MESSAGES

    class Wire(MessagesWire):
        def request(self, agent: Agent, history: Sequence[Json], *, stream: bool) -> Json:
            body = super().request(agent, history, stream=stream)
            toolsets = [tool for tool in body.get("tools", ()) if tool.get("type") == "mcp_toolset"]
            return {**body, "tools": toolsets} if toolsets else body

    wires = speaking(messages=Wire())


class BetaOutdated(Mutant):
    """Offers toolsets and asks for a version of the connector that knows none: `claude-mcp-beta-is-asked-for`."""

    breaks = ("claude-mcp-beta-is-asked-for",)
    cells = MESSAGES

    class Wire(MessagesWire):
        def headers_for(self, agent: Agent) -> Mapping[str, str]:
            return dict.fromkeys(super().headers_for(agent), "mcp-client-2025-04-04")

    wires = speaking(messages=Wire())
