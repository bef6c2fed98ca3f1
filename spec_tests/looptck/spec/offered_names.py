"""Tools of any name, and the names under which a request offers them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from looptck.bench.run import Run
from looptck.catalogue.agents import Tool
from looptck.values.cell import Cell
from looptck.values.history import Request
from looptck.values.verdicts import NotApplicable
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


def takes_names(run: Run, names: Sequence[str], again: Callable[[Sequence[str]], Run]) -> None:
    """Raise NotApplicable for a loop that sends nothing, and whose error names a tool that it does not take.

    The services allow more signs than letters and digits, and no document asks a loop to take each of them.

    Args:
        run: A run with tools of these names.
        names: Names that every service accepts.
        again: Runs the same with tools of other names. A loop that does not ask with plain ones has another reason.
    """
    told = str(run.outcome)
    refused = [name for name in names if not name.isalnum() and name in told]
    if run.requests or not run.failed or not refused:
        return
    again([f"note{number}" for number, _ in enumerate(names)]).request(1)
    raise NotApplicable(f"the loop refuses the name {refused[0]!r}: it {run.outcome}")
