"""What is held against a table of faults: the requirements that should fail, and those that did, with their cells."""

from __future__ import annotations

from collections.abc import Iterable

from looptck.catalogue import catalogue
from looptck.cells import Cell
from looptck.selection import concerns
from looptck.verdicts import Result
from looptck.wires import WIRES
from meta.loops.faults import Fault

CELLS = [Cell(wire, stream, mode) for wire in WIRES for stream in (False, True) for mode in ("sync", "async")]


def expected(fault: Fault, requirements: Iterable[str], cells: Iterable[Cell]) -> set[tuple[str, str]]:
    """The requirements that a fault has fail, and those of the cells in which they do."""
    rows = catalogue()
    return {
        (id, str(cell))
        for id in requirements
        for cell in cells
        if cell.matches(fault.where.get(id, fault.cells)) and concerns(rows[id], cell)
    }


def those(results: Iterable[Result], *verdicts: str) -> set[tuple[str, str]]:
    """The requirements with these verdicts, and the cells in which they have them."""
    return {(result.requirement, result.cell) for result in results if result.verdict in verdicts}
