"""The faults of the strange loops, of both kinds of table, each as a driver and what has to be said of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from meta.strangers.playing import driver, entries
from meta.strangers.replacing import replaced, with_fault, written


@dataclass(frozen=True, slots=True)
class Fault:
    """A loop with one fault."""

    name: str
    driver: str
    cell: str
    rows: frozenset[str]
    """The requirements that name it."""


def faults(folder: Path) -> Iterator[Fault]:
    """The faults that requirements name, those that are replaced lines as files in folders below this one."""
    for loop, entry in entries("faulty").items():
        if named := entry.get("named_by"):
            yield Fault(loop, driver(loop), entry["cell"], frozenset(named))
    for fault in replaced():
        if found := fault.get("found_by"):
            where = written(folder / fault["name"], fault["base"], with_fault(fault))
            yield Fault(f"fixes/{fault['name']}", where, fault["cell"], frozenset(found))
