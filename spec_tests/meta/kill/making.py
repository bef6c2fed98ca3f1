"""Makes small matrices by hand: mutants, what the checks made of them, and the requirements that they break.

A verdict is written as it is read: ``played("one", "fail", "it is two")``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from looptck.catalogue.requirements import Requirement, Source
from looptck.commands.kill.columns import Column
from looptck.commands.kill.matrix import Made, Matrix
from looptck.commands.kill.mutants import Mutant
from looptck.commands.kill.playing import Played
from looptck.values.verdicts import Result, Verdict

CELL = "openai-chat/plain/sync"
PROFILE = "core"
MADE = Made("python:some.loop:Driver", "some-loop 1.0", "python:some.mutants:MUTANTS", "0.1", "looptck kill")
DOCUMENT = Source("document", "A document", "§1", "https://example.test/document")


def requirement(
    id: str,
    *,
    text: str = "The loop does it.",
    profile: str = PROFILE,
    killed_by: Sequence[str] = (),
    no_mutant: str | None = None,
) -> Requirement:
    """A row of the catalogue."""
    return Requirement(
        id=id,
        profile=profile,
        level="MUST",
        text=text,
        sources=(DOCUMENT,),
        observed_at="wire",
        added="0.1",
        killed_by=tuple(killed_by),
        no_mutant=no_mutant,
    )


def mutant(
    name: str,
    *breaks: str,
    collateral: Mapping[str, str] | None = None,
    fault: str = "",
    profile: str = PROFILE,
    cells: Sequence[str] = (CELL,),
) -> Mutant:
    """A mutant that breaks these requirements."""
    return Mutant(
        name=name,
        driver=f"python:some.mutants:{name}",
        fault=fault or f"The fault of {name}",
        profile=profile,
        breaks=breaks,
        collateral=dict(collateral or {}),
        cells=tuple(cells),
    )


def played(
    id: str,
    verdict: Verdict,
    reason: str = "it is wrong",
    *,
    crash: str = "",
    place: str = "",
    cell: str = CELL,
    case: str = "a-case",
    number: int = 0,
    profile: str = PROFILE,
) -> Played:
    """The verdict of one check of a requirement."""
    return Played(number, Result(id, profile, "MUST", cell, case, verdict, reason), crash, place)


def failed(*ids: str) -> list[Played]:
    """A check of each of these requirements, failed."""
    return [played(id, "fail") for id in ids]


def column(one: Mutant, *checks: Played, trouble: str = "", full: bool = False) -> Column:
    """What the checks made of a mutant."""
    return Column(one, checks, trouble, full, one.cells, len(checks))


def killed(name: str, *breaks: str) -> Column:
    """A mutant that fails what it says, and nothing else."""
    return column(mutant(name, *breaks), *failed(*breaks))


def matrix(
    *columns: Column,
    requirements: Sequence[Requirement] = (),
    disagreements: Sequence[str] = (),
    cases: Mapping[str, Sequence[str]] | None = None,
) -> Matrix:
    """A matrix of these columns; without requirements it has those that the mutants name."""
    named = dict.fromkeys(id for one in columns for id in (*one.mutant.breaks, *one.mutant.collateral))
    return Matrix(columns, requirements or [requirement(id) for id in named], MADE, disagreements, cases or {})
