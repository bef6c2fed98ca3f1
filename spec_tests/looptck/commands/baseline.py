"""Baselines: a file of known failures written from a run, so that later runs fail on new failures only.

The present content of the file, with its comments, stays unchanged: new entries are appended. Stale entries are listed
and not removed, since their reasons were written by a person.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from rich.text import Text

from looptck.catalogue import known_failures as known
from looptck.catalogue.known_failures import Known
from looptck.catalogue.requirements import Requirement, catalogue
from looptck.catalogue.yaml_files import BadFile
from looptck.commands.pytest_run import run_pytest
from looptck.failures.causes import patterns
from looptck.report.console import could_not_run, output_console
from looptck.report.files import unwritable
from looptck.report.results import Results, read
from looptck.suite.options import CouldNotRun, Options
from looptck.suite.selection import concerns
from looptck.suite.session import Session
from looptck.suite.summary import kit_version, serializable, troubles
from looptck.values.cell import Cell
from looptck.values.frozen import dataclass
from looptck.values.plain import amount, cut
from looptck.values.verdicts import AGAINST, Result
from looptck.wires import WIRES

LONGEST = 300
"""The most characters of a generated reason."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A new entry."""

    requirement: str
    cell: str
    case: str | None
    reason: str

    def text(self) -> str:
        """The entry as YAML."""
        lines = [f"- requirement: {self.requirement}", f"  cell: {json.dumps(self.cell)}"]
        if self.case is not None:
            lines.append(f"  case: {json.dumps(self.case, ensure_ascii=False)}")
        return "\n".join([*lines, f"  reason: {json.dumps(self.reason, ensure_ascii=False)}", ""])


def baseline(options: Options, into: Path, results: Path | None) -> int:
    """Append the failures that the file does not cover; exit status 0, or 2 if the suite could not run."""
    console = output_console()
    if (wrong := _unwritable(into)) is not None:
        return could_not_run(console, wrong)
    try:
        old = known.read(into, catalogue()) if into.exists() else []
        found = read(results) if results is not None else _run(options)
    except (BadFile, CouldNotRun) as error:
        return could_not_run(console, str(error))
    if not found.results:
        console.print("no check ran, so there are no failures to record", style="bold red")
        return 2
    if (warning := found.other_kit(kit_version())) is not None:
        console.print(warning, style="yellow", markup=False, soft_wrap=True)
    added = list(entries(found, old))
    if added:
        _append(into, added)
    for entry in stale(found.results, old):
        console.print(Text(f"stale: {entry}: passes now, or no longer exists ({entry.reason})"), soft_wrap=True)
    if found.unfinished:
        console.print(
            f"the run was interrupted: {found.unfinished} checks and questions were not judged", style="yellow"
        )
    errors = sum(one.verdict == "error" for one in found.results)
    if errors:
        told = f"{amount(errors, 'error')} of the driver or of looptck left out: no failure of the loop"
        console.print(told, soft_wrap=True)
    console.print(
        f"{amount(len(added), 'entry', 'entries')} added to {into}, which had {len(old)}", markup=False, soft_wrap=True
    )
    return 0


def _run(options: Options) -> Results:
    session = Session.begin(replace(options, known_failures=None))
    run_pytest(session)
    if not session.chosen:
        raise CouldNotRun(troubles(session.record)[-1])
    return Results.of(serializable(session.record))


def entries(found: Results, old: Sequence[Known]) -> Iterator[Entry]:
    """An entry per requirement and set of cells with uncovered failures; it names the case if only one fails."""
    rows = {row.id: row for row in catalogue()}
    failing: dict[str, dict[str, list[Result]]] = defaultdict(lambda: defaultdict(list))
    judged: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    played: dict[str, set[str]] = defaultdict(set)
    for one in found.results:
        played[one.requirement].add(one.cell)
        if one.verdict in {"pass", *AGAINST}:
            judged[one.requirement][one.cell].add(one.case)
        if one.verdict in AGAINST and not _covered(one, old):
            failing[one.requirement][one.cell].append(one)
    each = bool(found.selection and found.selection["cases"])
    for requirement, cells in failing.items():
        row = rows.get(requirement)
        left_out = _declared(found, row) - played[requirement]
        for case, of_case in _by_case(cells, judged[requirement], each=each).items():
            for pattern in patterns(of_case, {*judged[requirement], *left_out}):
                first = next(of_case[cell] for cell in of_case if Cell.parse(cell).matches([pattern]))
                yield Entry(requirement, pattern, case, _reason(row, first))


def _covered(one: Result, old: Sequence[Known]) -> bool:
    return any(entry.covers(one.requirement, Cell.parse(one.cell), one.case, one.reason) for entry in old)


def _declared(found: Results, row: Requirement | None) -> set[str]:
    """The driver's cells that a requirement concerns, whether they were played or not."""
    declared = found.implementation
    cells = [
        Cell(wire, stream, mode)
        for wire in declared.get("wires", ())
        if wire in WIRES
        for stream in (False, True)
        for mode in declared.get("modes", ())
    ]
    return {str(cell) for cell in cells if row is None or concerns(row, cell)}


def _by_case(
    cells: dict[str, list[Result]], judged: dict[str, set[str]], *, each: bool
) -> dict[str | None, dict[str, Result]]:
    """The first failure in each cell, by case if it is the only one of several cases that fails there, else by None.

    ``each``: always by case.
    """
    found: dict[str | None, dict[str, Result]] = defaultdict(dict)
    for cell, results in cells.items():
        alone = len(results) == 1 and len(judged[cell]) > 1
        for one in results if each else results[:1]:
            found[one.case if alone or each else None].setdefault(cell, one)
    return found


def _reason(row: Requirement | None, one: Result) -> str:
    """A placeholder that a person should replace: the text of the requirement and the observed failure."""
    sentence = f"{row.text} " if row else ""
    seen = one.reason.partition("\n")[0]
    return cut(f"To be reviewed: {sentence}Observed: {seen}", LONGEST)


def stale(results: Iterable[Result], old: Sequence[Known]) -> Iterator[Known]:
    """The old entries whose checks were judged in these results and all passed."""
    known_results = list(results)
    for entry in (one for one in old if not one.sometimes):
        covered = [one for one in known_results if entry.covers(one.requirement, Cell.parse(one.cell), one.case)]
        if any(one.verdict == "pass" for one in covered) and all(one.verdict not in AGAINST for one in covered):
            yield entry


def _unwritable(into: Path) -> str | None:
    """Why the file, whose folder is made, cannot be written."""
    try:
        into.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return f"{into} cannot be written: {error.strerror}"
    return unwritable([into])


def _append(into: Path, added: Sequence[Entry]) -> None:
    before = into.read_text(encoding="utf-8") if into.exists() else ""
    if before.strip() in {"[]", "null", "~"}:
        before = ""
    text = before if not before or before.endswith("\n") else before + "\n"
    into.write_text(text + "\n".join(one.text() for one in added), encoding="utf-8")
