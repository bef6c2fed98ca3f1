"""The rules on the tools that a request offers, and on its MCP servers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from looptck.values.problem import Problem

RULES = {
    "tool-names-are-unique": "No two tools have the same name.",
    "choice-needs-tools": "A tool choice other than none comes only with tools.",
    "forced-tool-is-offered": "A tool choice that names a tool names one of the tools.",
    "mcp-servers-are-unique": "No two MCP servers have the same name.",
    "mcp-servers-are-used-once": "Exactly one toolset among the tools names each MCP server.",
    "cache-marks-are-four-at-most": "At most four blocks of tools, system and messages are marked for the cache.",
    "mcp-toolsets-name-a-server": "A toolset names one of the MCP servers of the request.",
}

MOST_MARKS = 4
_CONNECTOR = re.compile(r"\bmcp-client-(\d{4}-\d{2}-\d{2})\b")
_TOOLSETS_SINCE = "2025-11-20"
"""The date of the first version of the MCP connector with toolsets (MCP connector, Deprecated version).

The version before it takes servers without one, and offers all of their tools: all 25 requests of that form that were
recorded were answered, 21 of them with its beta header kept.
"""


def problems(body: dict[str, Any], betas: str = "") -> list[Problem]:
    """The contradictions between the tools and the tool choice; ``betas``: the versions that the request asks for."""
    found: list[Problem] = []
    tools = body.get("tools") or ()
    names = [tool.get("name") for tool in tools]
    if len(set(names)) < len(names):
        named = {name: place for place, name in enumerate(names)}
        twice = next((at for at, name in enumerate(names) if name is not None and named[name] != at), None)
        if twice is not None:
            found.append(Problem("tool-names-are-unique", f"/tools/{named[names[twice]]}", _TWICE))
    if (marked := marks(body)) > MOST_MARKS:
        words = f"A maximum of {MOST_MARKS} blocks with cache_control may be provided. Found {marked}."
        found.append(Problem("cache-marks-are-four-at-most", "", words))
    servers = body.get("mcp_servers") or ()
    in_toolsets = _in_toolsets(tools, betas)
    if servers:
        found += _same_name(servers)
    if in_toolsets and (servers or None in names):
        found += _toolsets(body, servers, tools)
    choice = body.get("tool_choice")
    if not choice or choice["type"] == "none" or (servers and not in_toolsets):
        return found
    if not tools:
        words = "tool_choice: may only be specified while providing tools"
        found.append(Problem("choice-needs-tools", "/tool_choice", words))
    elif choice["type"] == "tool" and choice["name"] not in names and None not in names:
        words = f"tool_choice: Tool '{choice['name']}' not found in provided tools"
        found.append(Problem("forced-tool-is-offered", "/tool_choice/name", words))
    return found


def marks(body: dict[str, Any]) -> int:
    """The number of blocks that are marked for the cache; a text in place of blocks has no mark."""
    blocks: list[Any] = [*(body.get("tools") or ())]
    for content in (body.get("system"), *(message["content"] for message in body["messages"])):
        blocks += content if isinstance(content, list) else ()
    known = [block for block in blocks if isinstance(block, dict)]
    inner = [block.get("content") for block in known if block.get("type") == "tool_result"]
    known += [one for content in inner if isinstance(content, list) for one in content if isinstance(one, dict)]
    return sum(block.get("cache_control") is not None for block in known)


_TWICE = "tools: Tool names must be unique."


def _in_toolsets(tools: Sequence[dict[str, Any]], betas: str) -> bool:
    """Whether MCP servers are offered in toolsets: by the requested version, else by the content of the request."""
    versions = _CONNECTOR.findall(betas)
    return max(versions) >= _TOOLSETS_SINCE if versions else any(tool.get("type") == "mcp_toolset" for tool in tools)


def _same_name(servers: Sequence[dict[str, Any]]) -> Iterator[Problem]:
    """The servers with the name of an earlier server. The service's message is not known."""
    names = [server["name"] for server in servers]
    for at, name in enumerate(names):
        if name in names[:at]:
            words = f"mcp_servers: MCP server names must be unique: '{name}'"
            yield Problem("mcp-servers-are-unique", f"/mcp_servers/{at}/name", words)


def _toolsets(
    body: dict[str, Any], servers: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]]
) -> Iterator[Problem]:
    """The problems between the servers and the toolsets (MCP connector, Validation rules).

    The words for a server without a toolset are the service's own; those for the other faults are not known.
    """
    names = [server["name"] for server in servers]
    toolsets = [(at, tool["mcp_server_name"]) for at, tool in enumerate(tools) if tool.get("type") == "mcp_toolset"]
    used = [name for _, name in toolsets]
    for at, name in enumerate(names):
        if name not in names[:at] and name not in used and not _added_later(body["messages"]):
            words = f"MCP server '{name}' is defined but not referenced by any `mcp_toolset` in `tools`."
            yield Problem("mcp-servers-are-used-once", f"/mcp_servers/{at}", words)
    for place, (at, name) in enumerate(toolsets):
        if name not in names:
            words = f"tools.{at}: `mcp_toolset` references MCP server '{name}', which is not defined in `mcp_servers`."
            yield Problem("mcp-toolsets-name-a-server", f"/tools/{at}/mcp_server_name", words)
        elif name in used[:place]:
            words = f"tools.{at}: MCP server '{name}' is referenced by more than one `mcp_toolset`."
            yield Problem("mcp-servers-are-used-once", f"/tools/{at}/mcp_server_name", words)


def _added_later(messages: list[dict[str, Any]]) -> bool:
    """Whether tools are added within the history, toolsets perhaps among them."""
    return any(
        block["type"] == "tool_addition"
        for message in messages
        if isinstance(message["content"], list)
        for block in message["content"]
    )
