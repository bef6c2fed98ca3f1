"""Idle mutants: without them, other mutants still prove that each requirement and each case can fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from looptck.commands.kill.columns import Column, State

Proof = tuple[str, str, str, str]
"""A requirement, a wire, a case and the place of the failed assertion; case and place are empty for the proof that a
targeted mutant fails the requirement."""


def idle(columns: Sequence[Column], requirements: Collection[str]) -> list[str]:
    """The names of mutants that can be dropped together without losing a proof for these requirements.

    Each requirement keeps a targeted mutant (one that is not broad) on each wire where it has one, and each case keeps
    a mutant that fails it, on each wire and at each assertion that some mutant fails. Of mutants with the same proofs,
    those that fail only one requirement are kept, then those with more proofs. A mutant that does not do what it
    declares is never idle: it needs a fix first.
    """
    proven = {column.mutant.name: proofs(column, requirements) for column in columns}
    left = Counter(proof for proofs in proven.values() for proof in proofs)
    found = []
    for column in sorted(columns, key=lambda one: (one.alone, len(proven[one.mutant.name]))):
        own = proven[column.mutant.name]
        if own and column.state is State.KILLED and all(left[proof] > 1 for proof in own):
            left.subtract(own)
            found.append(column.mutant.name)
    return sorted(found)


def proofs(column: Column, requirements: Collection[str]) -> set[Proof]:
    """The proofs of a mutant for these requirements."""
    failed = [(one.result, one.place) for id, checks in column.failed.items() if id in requirements for one in checks]
    cases = {(one.requirement, _wire(one.cell), one.case, place) for one, place in failed}
    if column.mutant.broad:
        return cases
    return cases | {(id, wire, "", "") for id, wire, *_ in cases if id in column.mutant.breaks}


def _wire(cell: str) -> str:
    return cell.partition("/")[0]
