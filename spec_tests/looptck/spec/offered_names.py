"""Tools of any name, and the names under which a request offers them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from looptck.catalogue.agents import Tool
from looptck.values.cell import Cell
from looptck.values.history import Request
from looptck.wires import WIRES

PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "The city."}},
    "required": ["city"],
}


def weather(name: str) -> Tool:
    """A tool of this name, which its description tells too."""
    return Tool(name, f"Tells the weather, as {name}.", PARAMETERS)


def offered(cell: Cell, body: Any, names: Sequence[str]) -> list[tuple[str, str]]:
    """Offered and own name of each of these tools that a request offers; a loop may offer tools of its own beside."""
    request: Request = WIRES[cell.wire].service(True).read(body)
    return [
        (tool.name, name) for tool in request.tools for name in names if weather(name).description in tool.description
    ]
