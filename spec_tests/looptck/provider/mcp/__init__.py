"""The server's side of the Model Context Protocol, without I/O: what a server of the kit lists and answers.

The revisions with a handshake (2025-11-25 and earlier) and the one without (2026-07-28), over streamable HTTP. A server
speaks both, as it says in its description, and answers a client as the request of this client asks.
"""

from looptck.provider.mcp.server import REVISIONS, STATELESS, Server, Tool
from looptck.provider.mcp.speaking import Answered, Called, Speaking

__all__ = ["REVISIONS", "STATELESS", "Answered", "Called", "Server", "Speaking", "Tool"]
