"""The summary of a run: what counts against the implementation, the exit status, and the results as JSON."""

from __future__ import annotations

import json
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
from looptck.suite.selection import Selection
from looptck.values.cell import Cell
from looptck.values.verdicts import AGAINST, Result, counted

if TYPE_CHECKING:
    from looptck.catalogue.requirements import Requirement
    from looptck.suite.session import Session


def stale(session: Session) -> list[str]:
    """Known failures that no longer fail, or that no check of a complete run concerns."""
    found = []
    for entry in session.known:
        covered = [one for one in session.results if entry.covers(one.requirement, Cell.parse(one.cell), one.case)]
        judged = [result for result in covered if result.verdict not in {"not-applicable", "divergence"}]
        if judged and all(result.verdict == "pass" for result in judged) and session.judges_all_of(entry):
            found.append(f"{entry}: passes now; remove it from the known failures ({entry.reason})")
        elif not judged and session.selection == Selection():
            found.append(f"{entry}: no check of this run matches it; remove it from the known failures")
    return found


def troubles(session: Session) -> list[str]:
    """What fails a run apart from the verdicts, as messages."""
    messages = [f"stale known failure: {entry}" for entry in stale(session)]
    messages += [str(fault) for fault in session.bench.late_faults]
    if not session.chosen and not session.survey.questions:
        why = nothing(session.selection, session.catalogue, session.bench.started, session.cells(), session.offered)
        messages.append(f"nothing was selected: {why}; no check ran, so there is no verdict")
    return messages


def unjudged(session: Session) -> int:
    """How many of the chosen checks have no verdict."""
    return len(session.chosen) - session.judged


def unasked(session: Session) -> int:
    """How many of the chosen questions have no answer."""
    return len(session.survey.questions) - len(session.survey.answers)


def unexpected(session: Session) -> list[Result]:
    """The errors, and the verdicts against the implementation that no known failure covers."""
    return [
        result
        for result in session.results
        if result.verdict == "error"
        or (
            result.verdict in AGAINST and not session.is_known(result.requirement, Cell.parse(result.cell), result.case)
        )
    ]


def exit_status(session: Session) -> int:
    """0 clean, 1 findings, 2 could not run."""
    if not (session.chosen or session.survey.questions) or unjudged(session):
        return 2
    return 1 if unexpected(session) or troubles(session) else 0


def one_line(session: Session) -> str:
    """Verdicts and their counts."""
    return " · ".join(f"{count} {verdict}" for verdict, count in counted(session.results).items() if count)


def causes_of(session: Session, findings: Sequence[Finding]) -> list[Cause]:
    """The causes of these failures, the worst first."""
    return causes(findings, _rows(session.catalogue), session.results)


def head(session: Session) -> dict[str, Any]:
    """What is known of a session before its first check, as members of the JSON of its results."""
    return {
        "looptck": kit_version(),
        "driver": session.bench.driver,
        "implementation": session.bench.started.serializable(),
        "selection": asdict(session.selection) | {"options": list(session.given)},
    }


def serializable(session: Session) -> dict[str, Any]:
    """The results as ``--json`` writes them; ``fixtures/results.schema.json`` is their schema."""
    found = causes_of(session, session.findings)
    known = head(session)
    return {
        **{name: known.pop(name) for name in ("looptck", "driver", "implementation")},
        "summary": counted(session.results),
        "results": details(session.results, session.findings, found, _rows(session.catalogue)),
        "causes": documented(found, {id(result): place for place, result in enumerate(session.results)}),
        "traits": session.survey.serializable(),
        "driver_faults": [
            {"kind": fault.kind, "detail": fault.detail, "run": fault.run, "stderr": fault.stderr}
            for fault in session.bench.late_faults
        ],
        "stale_known_failures": stale(session),
        "content": content(),
        **known,
        "unfinished": {"checks": unjudged(session), "questions": unasked(session)},
    }


def as_json(session: Session) -> str:
    """The results as the text of a JSON file."""
    return json.dumps(serializable(session), indent=1, ensure_ascii=False) + "\n"


def write_json(session: Session, path: Path) -> None:
    """Write the results to a file."""
    path.write_text(as_json(session), encoding="utf-8")


def kit_version() -> str:
    """The version of the installed distribution."""
    try:
        return version("looptck")
    except PackageNotFoundError:
        return "0+unknown"


def _rows(catalogue: Catalogue) -> dict[str, Requirement]:
    return {row.id: row for row in catalogue}
