"""A client of MCP servers that waits for an answer behind the end of its stream, until a time limit of its own."""

from __future__ import annotations

from threading import Event

from looptck_reference.kit.driver import Driver
from looptck_reference.kit.servers import Servers
from looptck_reference.mcp import McpClient, McpFailed
from looptck_reference.vocabulary.values import Json


class PatientClient(Driver):
    """Its time limit is longer than the kit's."""

    class servers(Servers):  # noqa: N801  the driver's attribute
        class client(McpClient):  # noqa: N801  the attribute of the servers
            def call(self, tool: str, arguments: Json) -> Json:
                try:
                    return super().call(tool, arguments)
                except McpFailed:
                    Event().wait()
                    raise
