"""The matrix: what each mutant did to each requirement, and what of it proves that a check can fail.

A kill is a ``fail``: the deciding event happened and was wrong. ``not-reached`` counts against a loop and kills no
mutant, for the check has judged nothing. Neither does a ``fail`` count that rests on a run which crashed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache, cached_property
from typing import Any

from looptck.catalogue import Requirement, catalogue
from looptck.kill.mutants import Mutant
from looptck.kill.playing import Played


class State(StrEnum):
    """What became of a mutant."""

    KILLED = "killed"
    """Every requirement that it says it breaks has failed."""
    BY_OTHERS = "killed by others only"
    """One that it says it breaks has not failed, and another requirement has."""
    SURVIVED = "survived"
    """Nothing has failed."""
    BROKEN = "broken"
    """It could not be judged."""


@dataclass
class Column:
    """One mutant, and what the checks made of it."""

    mutant: Mutant
    played: Sequence[Played] = ()
    trouble: str = ""
    """Why it could not be judged."""
    full: bool = False
    """Whether it was judged in all cells, so that all it says has to come true."""
    cells: Sequence[str] = ()
    """Where it was judged, in patterns."""
    checks: int = 0
    """How many checks it was judged by."""
    own: bool = False
    """Whether those were only the checks of what it breaks, so that nobody knows what else falls."""

    @cached_property
    def fallen(self) -> dict[str, list[Played]]:
        """The requirements that failed, with the checks that failed them."""
        found: dict[str, list[Played]] = {}
        for one in self.played:
            if one.result.verdict == "fail" and not one.crash:
                found.setdefault(one.result.requirement, []).append(one)
        return found

    @cached_property
    def crashed(self) -> dict[str, str]:
        """The requirements that failed by crashes alone, with the type of an error."""
        crashes = {one.result.requirement: one.crash for one in self.played if one.crash}
        return {id: crash for id, crash in crashes.items() if id not in self.fallen}

    @cached_property
    def hidden(self) -> set[str]:
        """The requirements of which some check was not reached, and none failed."""
        unreached = {one.result.requirement for one in self.played if one.result.verdict == "not-reached"}
        return unreached - self.fallen.keys() - self.crashed.keys()

    @property
    def missed(self) -> list[str]:
        """The requirements that it says it breaks, and that stood."""
        return [id for id in self.mutant.breaks if id not in self.fallen]

    @property
    def noise(self) -> list[str]:
        """The requirements that failed, by crashes too, and of which it says nothing.

        Those that ask for a whole conversation to be right fail with whatever another one names.
        """
        said = {*self.mutant.breaks, *self.mutant.also}
        return [id for id in (*self.fallen, *self.crashed) if id not in said and id not in _general()]

    @property
    def idle(self) -> list[str]:
        """The requirements that it says fall with others, and that stood wherever it was judged."""
        whole = self.full and not self.own
        return [id for id in self.mutant.also if id not in self.fallen] if whole else []

    @property
    def alone(self) -> bool:
        """Whether it is known to fail one requirement and no other."""
        return len(self.fallen) == 1 and not self.own

    @property
    def state(self) -> State:
        if self.trouble:
            return State.BROKEN
        if not self.missed:
            return State.KILLED
        return State.BY_OTHERS if self.fallen or self.crashed else State.SURVIVED

    @property
    def complaints(self) -> list[str]:
        """What is wrong with it, in words."""
        told = [self.trouble] if self.trouble else []
        told += [f"it does not fail {id}{self._instead(id)}" for id in self.missed if not self.trouble]
        told += [f"it also fails {id}, which it does not say: {self._reason(id)}" for id in self.noise]
        told += [f"it says that {id} falls too, which stood in every cell" for id in self.idle]
        return told

    def _instead(self, id: str) -> str:
        if id in self.crashed:
            return f", it crashes with {self.crashed[id]}"
        return ", it is not reached" if id in self.hidden else ""

    def _reason(self, id: str) -> str:
        if id in self.crashed:
            return f"a crash with {self.crashed[id]}"
        first = self.fallen[id][0]
        return f"{first.result.cell}, {first.result.case}: {first_line(first)}"


@dataclass
class Row:
    """One requirement, and the mutants that prove that it can fail."""

    requirement: Requirement
    killers: list[str] = field(default_factory=list)
    """The mutants that say they break it, and do."""
    alone: list[str] = field(default_factory=list)
    """Those of them that fail nothing else."""
    others: list[str] = field(default_factory=list)
    """Those that fail it beside what they break."""
    cases: Sequence[str] = ()
    """Of its checks, in whatever cells."""
    failed: set[str] = field(default_factory=set)
    """The cases that some mutant has failed."""

    @property
    def unproven(self) -> list[str]:
        """The cases that no mutant has failed, so that nobody has seen that they can."""
        return [] if self.requirement.no_mutant else [case for case in self.cases if case not in self.failed]

    @property
    def complaint(self) -> str:
        """What is wrong with it; empty: nothing."""
        id, excuse = self.requirement.id, self.requirement.no_mutant
        if self.killers and excuse:
            return f"{id}: the catalogue says that no mutant can break it, and {self.killers[0]} does"
        if not self.killers and not excuse:
            return f"{id}: no mutant that says it breaks it does"
        return ""


@dataclass(frozen=True, slots=True)
class Made:
    """What a matrix was made of."""

    driver: str
    """Of the loop without a fault."""
    implementation: str
    """Its name and version."""
    mutants: str
    """The collection of them."""
    kit: str
    """The version of looptck."""
    again: str
    """The command line that makes it again, without a choice of mutants."""
    full: bool = False
    """Whether the mutants were judged in all cells."""
    own: bool = False
    """Whether each of them was judged by the checks of what it breaks and no others."""


@dataclass
class Matrix:
    """All columns, and the requirements that were to be killed."""

    columns: Sequence[Column]
    requirements: Sequence[Requirement]
    made: Made
    disagreements: Sequence[str] = ()
    """Between the mutants and the catalogue."""
    cases: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Of the checks of each requirement."""

    @cached_property
    def rows(self) -> list[Row]:
        rows = {row.id: Row(row, cases=self.cases.get(row.id, ())) for row in self.requirements}
        for column in self.columns:
            for id in column.fallen.keys() & rows.keys():
                rows[id].failed.update(one.result.case for one in column.fallen[id])
                if id not in column.mutant.breaks:
                    rows[id].others.append(column.mutant.name)
                    continue
                rows[id].killers.append(column.mutant.name)
                if column.alone:
                    rows[id].alone.append(column.mutant.name)
        return [*rows.values()]

    @property
    def complaints(self) -> list[str]:
        """Everything that has to be mended before each check is proven able to fail."""
        told = [f"mutant {one.mutant.name}: {complaint}" for one in self.columns for complaint in one.complaints]
        return [*told, *(row.complaint for row in self.rows if row.complaint), *self.disagreements]

    def counted(self) -> dict[str, int]:
        """The last line of the terminal, in numbers."""
        states = [column.state for column in self.columns]
        return {
            **{str(state): states.count(state) for state in State},
            "noisy": sum(bool(column.noise) for column in self.columns),
            "requirements": len(self.rows),
            "requirements killed": sum(bool(row.killers) for row in self.rows),
            "requirements killed alone": sum(bool(row.alone) for row in self.rows),
            "requirements without a mutant": sum(bool(row.requirement.no_mutant) for row in self.rows),
            "cases": sum(len(row.cases) for row in self.rows if not row.requirement.no_mutant),
            "cases without a mutant": sum(len(row.unproven) for row in self.rows),
        }

    def serializable(self) -> dict[str, Any]:
        """The matrix as ``--json`` writes it; ``fixtures/kill.schema.json`` is its schema."""
        return {
            "looptck": self.made.kit,
            "driver": self.made.driver,
            "implementation": self.made.implementation,
            "collection": self.made.mutants,
            "full": self.made.full,
            "own": self.made.own,
            "summary": self.counted(),
            "complaints": self.complaints,
            "requirements": [_row(row) for row in self.rows],
            "mutants": [_column(column) for column in self.columns],
        }


def _row(row: Row) -> dict[str, Any]:
    return {
        "id": row.requirement.id,
        "profile": row.requirement.profile,
        "level": row.requirement.level,
        "text": row.requirement.text,
        "killed_by": row.killers,
        "alone": row.alone,
        "others": row.others,
        "no_mutant": row.requirement.no_mutant,
        "cases": len(row.cases),
        "unproven": row.unproven,
    }


def _column(column: Column) -> dict[str, Any]:
    mutant = column.mutant
    return {
        "name": mutant.name,
        "fault": mutant.fault,
        "driver": mutant.driver,
        "profile": mutant.profile,
        "coarse": mutant.coarse,
        "cells": [*column.cells],
        "checks": column.checks,
        "state": str(column.state),
        "breaks": [*mutant.breaks],
        "also": dict(mutant.also),
        "failed": {id: [_check(one) for one in checks] for id, checks in column.fallen.items()},
        "crashed": column.crashed,
        "not_reached": sorted(column.hidden),
        "noise": column.noise,
        "complaints": column.complaints,
    }


def _check(one: Played) -> dict[str, str]:
    return {"cell": one.result.cell, "case": one.result.case, "reason": first_line(one)}


@cache
def _general() -> frozenset[str]:
    return frozenset(row.id for row in catalogue() if row.general)


def first_line(one: Played) -> str:
    """The reason of a verdict without its details, which are longer and differ from run to run."""
    return next(iter(one.result.reason.splitlines()), "")
