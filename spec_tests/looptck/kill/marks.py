"""Marks: what stands in the matrix where a mutant and a requirement meet, and the sentence that says why."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from looptck.kill.matrix import Column, first_line


class Mark(StrEnum):
    """What became of a requirement under a mutant."""

    ALONE = "alone"
    KILL = "kill"
    ALSO = "also"
    UNREACHED = "unreached"
    NOISE = "noise"
    MISSED = "missed"


MEANINGS: Mapping[Mark, str] = {
    Mark.ALONE: "broken, and nothing else is",
    Mark.KILL: "broken, as the mutant says",
    Mark.ALSO: "falls with it, for a reason that is given",
    Mark.UNREACHED: "not reached: the run ended before it could be judged",
    Mark.NOISE: "falls with it, and nobody has said why",
    Mark.MISSED: "was to fall, and stands",
}


def mark_of(column: Column, id: str) -> Mark | None:
    """The mark of a requirement under a mutant; None: it stands, as it should."""
    mutant = column.mutant
    fell = id in column.fallen or id in column.crashed
    if id in mutant.breaks:
        killed = Mark.ALONE if column.alone else Mark.KILL
        return killed if id in column.fallen else Mark.MISSED
    if id in mutant.also and (fell or id in column.idle):
        return Mark.ALSO if fell else Mark.MISSED
    if fell:
        return Mark.NOISE
    return Mark.UNREACHED if id in column.hidden else None


def marked(column: Column) -> dict[str, Mark]:
    """The marks of a mutant, by requirement: what it says first, in its order."""
    said = [*column.mutant.breaks, *column.mutant.also]
    ids = dict.fromkeys([*said, *column.fallen, *column.crashed, *sorted(column.hidden)])
    marks = {id: mark_of(column, id) for id in ids}
    return {id: mark for id, mark in marks.items() if mark is not None}


def reason(column: Column, id: str) -> str:
    """Why the mark of a requirement is what it is."""
    match mark_of(column, id):
        case Mark.ALSO:
            return column.mutant.also[id]
        case Mark.MISSED:
            return _stands(column, id)
        case Mark.UNREACHED:
            return "not reached"
        case None:
            return "stands"
    return seen(column, id)


def seen(column: Column, id: str) -> str:
    """What the first check saw that failed a requirement; empty: none did."""
    if id in column.fallen:
        first = column.fallen[id][0]
        return f"{first.result.cell}, {first.result.case}: {first_line(first)}"
    return f"a crash with {column.crashed[id]}" if id in column.crashed else ""


def _stands(column: Column, id: str) -> str:
    if column.trouble:
        return "the mutant could not be judged"
    if id in column.crashed:
        return f"a crash with {column.crashed[id]}, which is no kill"
    return "not reached, which is no kill" if id in column.hidden else "stands in every cell where it was judged"
