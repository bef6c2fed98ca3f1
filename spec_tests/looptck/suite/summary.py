"""The summary of a run: what counts against the implementation, the exit status, and the results as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from looptck.catalogue.content import content
from looptck.catalogue.requirements import Catalogue
from looptck.failures.causes import Cause, causes, details, documented
from looptck.failures.groups import Finding
from looptck.suite.empty_selection import nothing
from looptck.suite.parts import shard_as_json
from looptck.suite.selection import Selection
from looptck.values.cell import Cell
from looptck.values.verdicts import AGAINST, Result, counted, is_undeclared

THOROUGH = "--thorough"
"""The option of a run that leaves out nothing."""

if TYPE_CHECKING:
    from looptck.catalogue.requirements import Requirement
    from looptck.suite.record import Record


def stale(record: Record) -> list[str]:
    """Known failures that no longer fail, or that no check of a complete run concerns; none in an interrupted run."""
    found: list[str] = []
    if not record.has_all:
        return found
    for entry in record.known:
        covered = [one for one in record.results if entry.covers(one.requirement, Cell.parse(one.cell), one.case)]
        judged = [result for result in covered if result.verdict not in {"not-applicable", "divergence"}]
        passes = not entry.sometimes and all(result.verdict == "pass" for result in judged)
        if judged and passes and record.judges_all_of(entry):
            found.append(f"{entry}: passes now; remove it from the known failures ({entry.reason})")
        elif not judged and record.selection == Selection() and record.judges_all_of(entry):
            found.append(f"{entry}: no check of this run matches it; remove it from the known failures")
    return found


def troubles(record: Record) -> list[str]:
    """What fails a run apart from the verdicts, as messages."""
    messages = [f"stale known failure: {entry}" for entry in stale(record)]
    messages += [fault.in_full() for fault in record.faults]
    if not record.checks and not record.questions:
        why = nothing(record.selection, record.catalogue, record.started, record.cells(), record.offered)
        messages.append(f"nothing was selected: {why}; no check ran, so there is no verdict")
    return messages


def judged_nothing(record: Record) -> str | None:
    """Why a whole run has judged nothing, as a message: each chosen check needs what the driver does not declare.

    None where a check has looked at what the loop does, even if it has found that it need not judge that.
    """
    if not record.checks or record.shard is not None or unjudged(record) or record.questions:
        return None
    if any(result.verdict != "not-applicable" or not is_undeclared(result.reason) for result in record.results):
        return None
    why = Counter(result.reason for result in record.results).most_common(1)[0][0]
    return f"nothing was judged: no check is applicable, mostly because: {why}"


def unjudged(record: Record) -> int:
    """How many of the chosen checks have no verdict."""
    return record.checks - record.judged


def unasked(record: Record) -> int:
    """How many of the chosen questions have no answer."""
    return record.questions - len(record.answers)


def unexpected(record: Record) -> list[Result]:
    """The errors, and the verdicts against the implementation that no known failure covers."""
    return [
        result for result in record.results if result.verdict in {*AGAINST, "error"} and record.known_of(result) is None
    ]


def exit_status(record: Record) -> int:
    """0 clean, 1 findings, 2 could not run."""
    if not (record.checks or record.questions) or unjudged(record) or judged_nothing(record):
        return 2
    return 1 if unexpected(record) or troubles(record) else 0


def one_line(record: Record) -> str:
    """Verdicts and their counts."""
    return " · ".join(f"{count} {verdict}" for verdict, count in counted(record.results).items() if count)


def causes_of(record: Record, findings: Sequence[Finding]) -> list[Cause]:
    """The causes of these failures, the worst first."""
    return causes(findings, _rows(record.catalogue), record.results)


def head(record: Record) -> dict[str, Any]:
    """What is known of a session before its first check, as members of the JSON of its results."""
    return {
        "looptck": kit_version(),
        "driver": record.driver,
        "implementation": record.started.serializable(),
        "selection": asdict(record.selection) | {"options": [*record.given, *([THOROUGH] if record.thorough else [])]},
    }


def serializable(record: Record) -> dict[str, Any]:
    """The results as ``--json`` writes them; ``fixtures/results.schema.json`` is their schema."""
    found = causes_of(record, record.findings)
    known = head(record)
    return {
        **{name: known.pop(name) for name in ("looptck", "driver", "implementation")},
        "summary": counted(record.results),
        "results": details(record.results, record.findings, found, _rows(record.catalogue), record.known_of),
        "causes": documented(found, {id(result): place for place, result in enumerate(record.results)}),
        "traits": [one.serializable() for one in record.answers],
        "driver_faults": [
            {"kind": fault.kind, "detail": fault.detail, "run": fault.run, "stderr": fault.stderr}
            for fault in record.faults
        ],
        "stale_known_failures": stale(record),
        "content": content(),
        **known,
        "left_out": len(record.left_out),
        "unfinished": {"checks": unjudged(record), "questions": unasked(record)},
        **({"shard": shard_as_json(record, record.shard)} if record.shard else {}),
    }


def as_json(record: Record) -> str:
    """The results as the text of a JSON file."""
    return json.dumps(serializable(record), indent=1, ensure_ascii=False) + "\n"


def write_json(record: Record, path: Path) -> None:
    """Write the results to a file."""
    path.write_text(as_json(record), encoding="utf-8")


def kit_version() -> str:
    """The version of the installed distribution."""
    try:
        return version("looptck")
    except PackageNotFoundError:
        return "0+unknown"


def _rows(catalogue: Catalogue) -> dict[str, Requirement]:
    return {row.id: row for row in catalogue}
