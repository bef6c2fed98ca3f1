"""The matrix: the result of each requirement under each mutant, and the proofs that each check can fail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any

from looptck.catalogue.requirements import Requirement
from looptck.commands.kill.columns import Column, State, first_line
from looptck.commands.kill.idle import idle
from looptck.commands.kill.playing import Played
from looptck.values.frozen import dataclass


@dataclass
class Row:
    """One requirement, and the mutants that prove that it can fail."""

    requirement: Requirement
    killers: list[str] = field(default_factory=list)
    """The mutants that declare to break it, and do."""
    alone: list[str] = field(default_factory=list)
    """The killers that fail no other requirement."""
    others: list[str] = field(default_factory=list)
    """The mutants that fail it as collateral."""
    cases: Sequence[str] = ()
    """The cases of its checks in all cells."""
    failed: set[str] = field(default_factory=set)
    """The cases that at least one mutant fails."""

    @property
    def unproven(self) -> list[str]:
        """The cases that no mutant fails, so that it is unproven that they can fail."""
        return [] if self.requirement.no_mutant else [case for case in self.cases if case not in self.failed]

    @property
    def complaint(self) -> str:
        """What is wrong with the proof of this requirement; empty if nothing is."""
        id, excuse = self.requirement.id, self.requirement.no_mutant
        if self.killers and excuse:
            return f"{id}: the catalogue states that no mutant can break it, but {self.killers[0]} does"
        if not self.killers and not excuse:
            return f"{id}: no mutant that declares to break it fails it"
        return ""


@dataclass(frozen=True, slots=True)
class Made:
    """How a matrix was made."""

    driver: str
    """The driver of the loop without a fault."""
    implementation: str
    """The name and version of that loop."""
    mutants: str
    """The collection of the mutants."""
    kit: str
    """The version of looptck."""
    again: str
    """The command line that makes it again, without a selection of mutants."""
    full: bool = False
    """Whether the mutants were judged in all cells."""
    own: bool = False
    """Whether each mutant was judged only by the checks of what it breaks."""


@dataclass
class Matrix:
    """All columns, and the requirements that must be killed."""

    columns: Sequence[Column]
    requirements: Sequence[Requirement]
    made: Made
    disagreements: Sequence[str] = ()
    """Disagreements between the mutants and the catalogue."""
    cases: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The cases of each requirement's checks; empty if not all were played, so that nothing is known of cases."""

    @cached_property
    def rows(self) -> list[Row]:
        rows = {row.id: Row(row, cases=self.cases.get(row.id, ())) for row in self.requirements}
        for column in self.columns:
            for id in column.failed.keys() & rows.keys():
                rows[id].failed.update(one.result.case for one in column.failed[id])
                if id not in column.mutant.breaks:
                    rows[id].others.append(column.mutant.name)
                    continue
                rows[id].killers.append(column.mutant.name)
                if column.alone:
                    rows[id].alone.append(column.mutant.name)
        return [*rows.values()]

    @cached_property
    def idle(self) -> list[str]:
        """The mutants that could be dropped together without losing a proof, as far as all checks were played."""
        return [] if self.made.own else idle(self.columns, {row.id for row in self.requirements})

    @property
    def complaints(self) -> list[str]:
        """Everything that needs a fix before each check is proven able to fail."""
        found = [f"mutant {one.mutant.name}: {complaint}" for one in self.columns for complaint in one.complaints]
        return [*found, *(row.complaint for row in self.rows if row.complaint), *self.disagreements]

    def counted(self) -> dict[str, int]:
        """The numbers in the last line of the terminal output."""
        states = [column.state for column in self.columns]
        return {
            **{str(state): states.count(state) for state in State},
            "noisy": sum(bool(column.noise) for column in self.columns),
            "idle": len(self.idle),
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
            "idle": self.idle,
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
        "coarse": mutant.broad,
        "cells": [*column.cells],
        "checks": column.checks,
        "state": str(column.state),
        "breaks": [*mutant.breaks],
        "also": dict(mutant.collateral),
        "failed": {id: [_check(one) for one in checks] for id, checks in column.failed.items()},
        "crashed": column.crashed,
        "not_reached": sorted(column.hidden),
        "noise": column.noise,
        "complaints": column.complaints,
    }


def _check(one: Played) -> dict[str, str]:
    return {"cell": one.result.cell, "case": one.result.case, "reason": first_line(one)}
