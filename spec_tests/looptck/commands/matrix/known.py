"""Which failures of kept results are known, by the file as it is now: a reason costs no second run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from looptck.catalogue.known_failures import Known, read
from looptck.catalogue.requirements import catalogue
from looptck.commands.matrix.kept import Kept
from looptck.commands.matrix.targets import Target
from looptck.values.cell import Cell

UNJUDGED = frozenset({"not-applicable", "divergence"})


def with_known(one: Kept, target: Target) -> Kept:
    """What is kept of a target, with its failures marked by its file of known failures.

    Raises:
        BadFile: the file breaks its schema.
    """
    if one.run is None:
        return one
    file = target.known_failures
    known = read(file, catalogue()) if file.is_file() else []
    results = [_marked(row, known) for row in one.run["results"]]
    return replace(one, run={**one.run, "results": results, "stale_known_failures": [*_stale(one.run, known)]})


def _marked(row: Mapping[str, Any], known: Sequence[Known]) -> dict[str, Any]:
    marked = {name: value for name, value in row.items() if name != "known"}
    if "cause" in row:
        reason = next((entry.reason for entry in known if _covers(entry, row, row["reason"])), None)
        return marked if reason is None else marked | {"known": reason}
    return marked


def _stale(run: Mapping[str, Any], known: Sequence[Known]) -> Iterator[str]:
    """Entries that no longer fail; of a run that has left out checks, those that it has found itself."""
    for entry in (one for one in known if not one.sometimes):
        before = next((text for text in run["stale_known_failures"] if text.startswith(f"{entry}: ")), None)
        verdicts = {row["verdict"] for row in run["results"] if _covers(entry, row)} - UNJUDGED
        if before is not None and not verdicts - {"pass"}:
            yield before
        elif verdicts == {"pass"} and not run.get("left_out") and not any(run.get("unfinished", {}).values()):
            yield f"{entry}: passes now; remove it from the known failures ({entry.reason})"


def _covers(entry: Known, row: Mapping[str, Any], message: str | None = None) -> bool:
    return entry.covers(row["requirement"], Cell.parse(row["cell"]), row["case"], message)
