"""Idle mutants: without them each requirement, and each case, would still be proven able to fail by another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from looptck.kill.columns import Column, State

Proof = tuple[str, str, str, str]
"""A requirement, a wire, a case of it and the place of the assertion that failed; both of the latter are empty where a
targeted mutant fails the requirement itself."""


def idle(columns: Sequence[Column], requirements: Collection[str]) -> list[str]:
    """Mutants that can all go without a proof that these requirements lose, by name.

    Each requirement keeps a targeted mutant, one that is not broad, on each wire where it has one; and each case a
    mutant that fails it, on each wire and at each assertion that some mutant fails. Of mutants that prove the same,
    those stay that fail one requirement alone, and those that prove more. A mutant that does not do what it says is no
    candidate: it is to be mended first.
    """
    proven = {column.mutant.name: proofs(column, requirements) for column in columns}
    left = Counter(proof for proofs in proven.values() for proof in proofs)
    found = []
    for column in sorted(columns, key=lambda one: (one.alone, len(proven[one.mutant.name]))):
        its = proven[column.mutant.name]
        if its and column.state is State.KILLED and all(left[proof] > 1 for proof in its):
            left.subtract(its)
            found.append(column.mutant.name)
    return sorted(found)


def proofs(column: Column, requirements: Collection[str]) -> set[Proof]:
    """What a mutant proves of these requirements."""
    failed = [(one.result, one.place) for id, checks in column.failed.items() if id in requirements for one in checks]
    cases = {(one.requirement, _wire(one.cell), one.case, place) for one, place in failed}
    if column.mutant.broad:
        return cases
    return cases | {(id, wire, "", "") for id, wire, *_ in cases if id in column.mutant.breaks}


def _wire(cell: str) -> str:
    return cell.partition("/")[0]
