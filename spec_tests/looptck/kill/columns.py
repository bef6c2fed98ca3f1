"""Columns of the matrix: what the checks made of one mutant.

A kill is a ``fail``: the deciding event happened and was wrong. ``not-reached`` counts against a loop and kills no
mutant, for the check has judged nothing. Neither does a ``fail`` count that rests on a run which crashed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property

from looptck.catalogue.requirements import catalogue
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
    """Whether those were only the checks of what it breaks, so that nothing is known of what else fails."""

    @cached_property
    def failed(self) -> dict[str, list[Played]]:
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
        return {id: crash for id, crash in crashes.items() if id not in self.failed}

    @cached_property
    def hidden(self) -> set[str]:
        """The requirements of which some check was not reached, and none failed."""
        unreached = {one.result.requirement for one in self.played if one.result.verdict == "not-reached"}
        return unreached - self.failed.keys() - self.crashed.keys()

    @property
    def missed(self) -> list[str]:
        """The requirements that it says it breaks, and that passed."""
        return [id for id in self.mutant.breaks if id not in self.failed]

    @property
    def noise(self) -> list[str]:
        """The requirements that failed, by crashes too, and of which it says nothing.

        Those that ask for a whole conversation to be right fail with whatever another one names.
        """
        said = {*self.mutant.breaks, *self.mutant.collateral}
        return [id for id in (*self.failed, *self.crashed) if id not in said and id not in _general()]

    @property
    def spared(self) -> list[str]:
        """Its collateral that passed wherever it was judged."""
        whole = self.full and not self.own
        return [id for id in self.mutant.collateral if id not in self.failed] if whole else []

    @property
    def alone(self) -> bool:
        """Whether it is known to fail one requirement and no other."""
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
        """What is wrong with it, in words."""
        found = [self.trouble] if self.trouble else []
        found += [f"it does not fail {id}{self._instead(id)}" for id in self.missed if not self.trouble]
        found += [f"it also fails {id}, which it does not declare: {self._reason(id)}" for id in self.noise]
        found += [f"it declares {id} as collateral, which passed in every cell" for id in self.spared]
        return found

    def _instead(self, id: str) -> str:
        if id in self.crashed:
            return f", it crashes with {self.crashed[id]}"
        return ", it is not reached" if id in self.hidden else ""

    def _reason(self, id: str) -> str:
        if id in self.crashed:
            return f"a crash with {self.crashed[id]}"
        first = self.failed[id][0]
        return f"{first.result.cell}, {first.result.case}: {first_line(first)}"


@cache
def _general() -> frozenset[str]:
    return frozenset(row.id for row in catalogue() if row.general)


def first_line(one: Played) -> str:
    """The reason of a verdict without its details, which are longer and differ from run to run."""
    return next(iter(one.result.reason.splitlines()), "")
