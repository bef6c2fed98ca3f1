"""Marks: the result of a requirement under a mutant, and the reason for it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from looptck.commands.kill.columns import Column, first_line


class Mark(StrEnum):
    """The result of a requirement under a mutant."""

    ALONE = "alone"
    KILL = "kill"
    ALSO = "also"
    UNREACHED = "unreached"
    NOISE = "noise"
    MISSED = "missed"


MEANINGS: Mapping[Mark, str] = {
    Mark.ALONE: "failed as expected, and no other requirement failed",
    Mark.KILL: "failed as expected",
    Mark.ALSO: "declared collateral failure",
    Mark.UNREACHED: "not reached: the run ended before the deciding event",
    Mark.NOISE: "undeclared collateral failure",
    Mark.MISSED: "expected to fail, but passed",
}


def mark_of(column: Column, id: str) -> Mark | None:
    """The mark of a requirement under a mutant; None: it passed, as it should."""
    mutant = column.mutant
    failed = id in column.failed or id in column.crashed
    if id in mutant.breaks:
        killed = Mark.ALONE if column.alone else Mark.KILL
        return killed if id in column.failed else Mark.MISSED
    if id in mutant.collateral and (failed or id in column.spared):
        return Mark.ALSO if failed else Mark.MISSED
    if failed:
        return Mark.NOISE
    return Mark.UNREACHED if id in column.hidden else None


def marked(column: Column) -> dict[str, Mark]:
    """The marks of a mutant by requirement: the declared ones first, in the order of declaration."""
    declared = [*column.mutant.breaks, *column.mutant.collateral]
    ids = dict.fromkeys([*declared, *column.failed, *column.crashed, *sorted(column.hidden)])
    marks = {id: mark_of(column, id) for id in ids}
    return {id: mark for id, mark in marks.items() if mark is not None}


def reason(column: Column, id: str) -> str:
    """The reason for the mark of a requirement."""
    match mark_of(column, id):
        case Mark.ALSO:
            return column.mutant.collateral[id]
        case Mark.MISSED:
            return _passed(column, id)
        case Mark.UNREACHED:
            return "not reached"
        case None:
            return "passed"
    return seen(column, id)


def seen(column: Column, id: str) -> str:
    """The first failed check of a requirement, with its reason; empty if none failed."""
    if id in column.failed:
        first = column.failed[id][0]
        return f"{first.result.cell}, {first.result.case}: {first_line(first)}"
    return f"crashed with {column.crashed[id]}" if id in column.crashed else ""


def _passed(column: Column, id: str) -> str:
    if column.trouble:
        return "the mutant could not be judged"
    if id in column.crashed:
        return f"crashed with {column.crashed[id]}, which does not count as a kill"
    return (
        "not reached, which does not count as a kill"
        if id in column.hidden
        else "passed in every cell where it was judged"
    )
