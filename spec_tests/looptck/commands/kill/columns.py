"""Columns of the matrix: the verdicts of the checks on one mutant.

A kill is a ``fail``: the deciding event happened and was wrong. ``not-reached`` counts against a loop but does not kill
a mutant, since the check has judged nothing. A ``fail`` of a run that crashed does not count as a kill either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property

from looptck.catalogue.requirements import catalogue
from looptck.commands.kill.mutants import Mutant
from looptck.commands.kill.playing import Played
from looptck.values.verdicts import Verdict


class State(StrEnum):
    """The state of a mutant after the checks."""

    KILLED = "killed"
    """Every requirement that it declares to break has failed."""
    BY_OTHERS = "killed by others only"
    """A requirement that it declares to break has not failed, but another requirement has."""
    SURVIVED = "survived"
    """No requirement has failed."""
    BROKEN = "broken"
    """It could not be judged."""


@dataclass
class Column:
    """One mutant, and the verdicts of the checks on it."""

    mutant: Mutant
    played: Sequence[Played] = ()
    trouble: str = ""
    """Why it could not be judged."""
    full: bool = False
    """Whether it was judged in all cells, so that everything it declares must fail."""
    cells: Sequence[str] = ()
    """The patterns of the cells in which it was judged."""
    checks: int = 0
    """The number of checks that judged it."""
    own: bool = False
    """Whether only the checks of what it breaks judged it, so that its collateral failures are unknown."""

    @cached_property
    def failed(self) -> dict[str, list[Played]]:
        """The failed requirements, with the checks that failed."""
        found: dict[str, list[Played]] = {}
        for one in self.played:
            if one.kills:
                found.setdefault(one.result.requirement, []).append(one)
        return found

    @cached_property
    def crashed(self) -> dict[str, str]:
        """The requirements that failed only because of crashes, with the type of the error."""
        crashes = {one.result.requirement: one.crash for one in self.played if one.crash}
        return {id: crash for id, crash in crashes.items() if id not in self.failed}

    @cached_property
    def hidden(self) -> set[str]:
        """The requirements with a check that was not reached, and no failed one."""
        unreached = {one.result.requirement for one in self.played if one.result.verdict == "not-reached"}
        return unreached - self.failed.keys() - self.crashed.keys()

    @property
    def missed(self) -> list[str]:
        """The requirements that it declares to break, and that have not failed."""
        return [id for id in self.mutant.breaks if id not in self.failed]

    @property
    def noise(self) -> list[str]:
        """The requirements that failed or crashed without being declared.

        Requirements about whole conversations are left out: they fail with any other requirement.
        """
        declared = {*self.mutant.breaks, *self.mutant.collateral}
        return [id for id in (*self.failed, *self.crashed) if id not in declared and id not in _general()]

    @property
    def spared(self) -> list[str]:
        """Its declared collateral that passed in every judged cell."""
        whole = self.full and not self.own
        return [id for id in self.mutant.collateral if id not in self.failed] if whole else []

    @property
    def alone(self) -> bool:
        """Whether it fails one requirement and no other, as far as that was judged."""
        return len(self.failed) == 1 and not self.own

    @property
    def state(self) -> State:
        if self.trouble:
            return State.BROKEN
        if not self.missed:
            return State.KILLED
        return State.BY_OTHERS if self.failed or self.crashed else State.SURVIVED

    @property
    def complaints(self) -> list[str]:
        """What is wrong with the mutant, as messages."""
        found = [self.trouble] if self.trouble else []
        found += [f"it does not fail {id}{self._instead(id)}" for id in self.missed if not self.trouble]
        found += [f"it also fails {id}, which it does not declare: {self._reason(id)}" for id in self.noise]
        found += [f"it declares {id} as collateral, which passed in every cell" for id in self.spared]
        return found

    def _instead(self, id: str) -> str:
        if id in self.crashed:
            return f", but crashes with {self.crashed[id]}"
        verdicts: dict[Verdict, Played] = {}
        for one in self.played:
            if one.result.requirement == id:
                verdicts.setdefault(one.result.verdict, one)
        verdict = next((one for one in ("not-reached", "pass", *verdicts) if one in verdicts), None)
        if verdict is None:
            return ", which was not judged"
        if verdict == "pass":
            return ", which passes"
        reason = first_line(verdicts[verdict])
        return f", which is {verdict}" + (f": {reason}" if reason else "")

    def _reason(self, id: str) -> str:
        if id in self.crashed:
            return f"crashed with {self.crashed[id]}"
        first = self.failed[id][0]
        return f"{first.result.cell}, {first.result.case}: {first_line(first)}"


@cache
def _general() -> frozenset[str]:
    return frozenset(row.id for row in catalogue() if row.general)


def first_line(one: Played) -> str:
    """The first line of a verdict's reason; further lines are long and differ from run to run."""
    return next(iter(one.result.reason.splitlines()), "")
