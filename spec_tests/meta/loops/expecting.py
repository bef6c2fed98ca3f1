"""What is held against a table of faults: the requirements that should fail, and those that did, with their cells."""

from __future__ import annotations

from collections.abc import Iterable

from looptck.catalogue import catalogue
from looptck.cells import Cell
from looptck.selection import concerns
from looptck.verdicts import Result
from looptck.wires import WIRES

CELLS = [Cell(wire, stream, mode) for wire in WIRES for stream in (False, True) for mode in ("sync", "async")]


def expected(requirements: Iterable[str], cells: Iterable[Cell]) -> set[tuple[str, str]]:
    """The requirements, in the cells that they concern."""
    rows = catalogue()
    return {(id, str(cell)) for id in requirements for cell in cells if concerns(rows[id], cell)}


def those(results: Iterable[Result], *verdicts: str) -> set[tuple[str, str]]:
    """The requirements with these verdicts, and the cells in which they have them."""
    return {(result.requirement, result.cell) for result in results if result.verdict in verdicts}
