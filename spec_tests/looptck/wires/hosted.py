"""Which tool of the service leaves which piece in a turn, and how a request offers that tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from looptck.values.turns import HostedKind, Served

KINDS: Mapping[str, HostedKind] = {
    "web_search": "search",
    "web_search_call": "search",
    "mcp_call": "mcp",
    "mcp_tool_use": "mcp",
    "mcp_list_tools": "mcp",
}
"""The tools that every wire with hosted tools has, by the names of their pieces."""
_CODE = {"type": "code_execution_20250825", "name": "code_execution"}
OFFERS: Mapping[str, Mapping[str, Any]] = {
    "code_execution": _CODE,
    "bash_code_execution": _CODE,
    "text_editor_code_execution": _CODE,
    "web_fetch": {"type": "web_fetch_20250910", "name": "web_fetch"},
    "tool_search_tool_regex": {"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"},
    "tool_search_tool_bm25": {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"},
    "code_interpreter_call": {"type": "code_interpreter", "container": {"type": "auto"}},
    "tool_search_call": {"type": "tool_search"},
    "file_search_call": {"type": "file_search", "vector_store_ids": ["vs_looptck"]},
}
"""The other tools as their wire offers them, by the names of their pieces (messages-tools: Server tools;
responses-api: tools)."""


def made_by(piece: Served) -> HostedKind | Mapping[str, Any] | None:
    """The kind of tool that makes such a piece, or the tool as a request offers it.

    None for the result of a tool whose call is in the same turn, and for tools that looptck cannot offer.
    """
    named = piece.value.get("name") if piece.value.get("type") == "server_tool_use" else piece.value.get("type")
    return KINDS.get(str(named)) or OFFERS.get(str(named))


def is_result(piece: Served) -> bool:
    """Whether a piece is the result of a tool whose call is in the same turn, or a text that cites such a result."""
    kind = str(piece.value.get("type"))
    return kind.endswith("_result") or kind == "tool_search_output" or "citations" in piece.value
