"""Why no check was selected: the option of the selection that left none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path

from looptck.bench.cases import cases
from looptck.catalogue.requirements import LEVELS, Catalogue, Requirement
from looptck.drivers import Started
from looptck.suite.selection import Selection, concerns
from looptck.values.cell import Cell

SPEC = Path(__file__).parent.parent / "spec"
"""The test functions, in a folder for each profile."""
_TEST = re.compile(r"^def test_(\w+)\(", re.MULTILINE)


def nothing(
    selection: Selection, catalogue: Catalogue, started: Started, cells: Sequence[Cell], offered: Sequence[str]
) -> str:
    """The first selector that leaves no check; ``offered`` are the cases of the checks before the selection by case."""
    profiles = selection.profiles or tuple(started.claimed)
    rows = [row for row in catalogue if row.profile in profiles]
    if not rows:
        return f"{_listed(profiles)} has no requirements"
    if started.alone and not any(row.profile in started.profiles for row in rows):
        return f"{started.name} claims only {_listed(started.profiles)}, not {_listed(profiles)}"
    if selection.requirements:
        rows = [row for row in rows if row.id in selection.requirements]
        if not rows:
            asked = [catalogue[id] for id in selection.requirements]
            belongs = ", ".join(f"{row.id} is in {row.profile}" for row in asked)
            why = "this run judges" if selection.profiles else "the driver claims"
            return f"--requirement: {belongs}, and {why} {_listed(profiles)}"
    if not any(LEVELS.index(row.level) <= LEVELS.index(selection.level) for row in rows):
        return f"--level {selection.level}: {_each(rows, 'level')}"
    return (
        _cells(selection, started, cells, rows)
        or _elsewhere(selection, catalogue, profiles)
        or _cases(selection, offered)
        or _excluded(rows)
    )


def _cells(selection: Selection, started: Started, cells: Sequence[Cell], rows: Sequence[Requirement]) -> str:
    """Why no cell is left; empty if one is left."""
    if not cells:
        return f"{started.name} declares the wires {_listed(started.wires)}, none of which looptck has"
    matched = [cell for cell in cells if not selection.cells or cell.matches(selection.cells)]
    if not matched:
        return f"--cell {' '.join(selection.cells)}: {started.name} has the cells {_listed(map(str, cells))}"
    if not any(concerns(row, cell) for row in rows for cell in matched):
        what = {(row.streams, row.wires) for row in rows}
        streams, wires = next(iter(what))
        sort = {None: "", True: "streams", False: "plain replies"}[streams]
        about = " of ".join(word for word in (sort, _listed(wires) if wires else "") if word)
        names, others = _listed(row.id for row in rows), _listed(map(str, matched))
        return f"--cell: {names} concerns {about} only, not {others}"
    return ""


def _elsewhere(selection: Selection, catalogue: Catalogue, profiles: Sequence[str]) -> str:
    """Which other profiles the selected case is in; empty if it is in one of these, or in none."""
    if not selection.cases:
        return ""
    every = frozenset(row.id for row in catalogue)
    found = {
        catalogue[id].profile for case in cases().checking(every) if selection.names(case.name) for id in case.checks
    }
    for path in SPEC.glob("*/test_*.py"):
        names = (name.replace("_", "-") for name in _TEST.findall(path.read_text(encoding="utf-8")))
        if any(map(selection.names, names)):
            found.add(path.parent.name.replace("_", "-"))
    others = sorted(found & {row.profile for row in catalogue})
    if not others or {*others} & {*profiles}:
        return ""
    asked = " ".join(selection.cases)
    return f"--case {asked}: this case is in {_listed(others)}, and this run judges {_listed(profiles)}"


def _cases(selection: Selection, offered: Sequence[str]) -> str:
    if not (selection.cases and offered):
        return ""
    words = selection.cases[0].replace("*", "")
    within = [name for name in offered if words and words in name]
    near = within or get_close_matches(words, offered, n=3, cutoff=0.5) or offered[:5]
    return f"--case {' '.join(selection.cases)}: no selected check has this case; there are {_listed(near)}"


def _excluded(rows: Sequence[Requirement]) -> str:
    excluded = [row for row in rows if row.excluded]
    if excluded:
        return f"{excluded[0].id} cannot be tested: {excluded[0].excluded}"
    return f"{_listed(row.id for row in rows[:3])} has no check in these cells"


def _each(rows: Sequence[Requirement], word: str) -> str:
    return ", ".join(f"{row.id} is {getattr(row, word)}" for row in rows[:3])


def _listed(names: Iterable[object]) -> str:
    listed = [str(name) for name in names]
    return ", ".join(listed[:6]) + (f" and {len(listed) - 6} more" if len(listed) > 6 else "") if listed else "nothing"
