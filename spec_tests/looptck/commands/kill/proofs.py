"""Which mutants must fail each requirement: the inverse of what they break, generated into ``fixtures/proofs.json``.

With the file the catalogue can name the mutants of a requirement even if the reference is not installed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from looptck.catalogue.requirements import Requirement
from looptck.commands.kill.mutants import Mutant

AGAIN = "looptck kill --proofs fixtures/proofs.json"
"""The command line that generates it."""


def proofs(mutants: Iterable[Mutant]) -> dict[str, list[str]]:
    """The mutants of each requirement, by its id: first the targeted ones, then the broad ones."""
    found: dict[str, list[str]] = {}
    for mutant in sorted(mutants, key=lambda one: (one.broad, one.name)):
        for id in mutant.breaks:
            found.setdefault(id, []).append(mutant.name)
    return dict(sorted(found.items()))


def write(mutants: Iterable[Mutant], path: Path) -> None:
    """Write the proofs as JSON, a line for each requirement."""
    lines = [f" {json.dumps(id)}: {json.dumps(names)}" for id, names in proofs(mutants).items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def disagreements(mutants: Iterable[Mutant], requirements: Iterable[Requirement]) -> list[str]:
    """The requirements for which the catalogue names other mutants than those that break them, as messages."""
    found = proofs(mutants)
    return [
        f"{row.id}: its mutants in fixtures/proofs.json are out of date; update the file with {AGAIN}"
        for row in requirements
        if [*row.killed_by] != found.get(row.id, [])
    ]
