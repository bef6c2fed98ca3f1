"""The server's side of the Model Context Protocol, without I/O: what a server of the kit lists and answers.

The revisions with a handshake (2025-11-25 and earlier), over streamable HTTP. A client that first tries a later one is
answered as servers of these revisions do, so that it falls back.
"""

from looptck.mcp.server import REVISIONS, Server, Tool
from looptck.mcp.speaking import Answered, Called, Speaking

__all__ = ["REVISIONS", "Answered", "Called", "Server", "Speaking", "Tool"]
