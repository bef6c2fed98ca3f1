"""The cells of an implementation."""

from __future__ import annotations

from collections.abc import Iterable

from looptck.drivers import Started
from looptck.values.cell import Cell


def cells(started: Started, known_wires: Iterable[str]) -> list[Cell]:
    """The cells of an implementation: its wires that looptck has, plain and stream, in its modes."""
    return [
        Cell(wire, stream, mode)
        for wire in known_wires
        if wire in started.wires
        for stream in (False, True)
        for mode in started.modes
    ]
