"""Tools of MCP servers: a client over streamable HTTP, and what the model reads of its results."""

from looptck_reference.mcp.client import McpClient, McpFailed, SessionOver
from looptck_reference.mcp.results import ToolFailed, value_of

__all__ = ["McpClient", "McpFailed", "SessionOver", "ToolFailed", "value_of"]
