"""The table of verdicts: a row for each requirement, a column for each wire, plain and streamed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

from looptck.values.cell import Cell
from looptck.values.verdicts import AGAINST, Result, Verdict, worst

if TYPE_CHECKING:
    from looptck.suite.session import Session

STYLES: dict[Verdict, str] = {
    "pass": "green",
    "fail": "bold red",
    "not-reached": "red",
    "not-applicable": "dim",
    "error": "bold magenta",
    "divergence": "cyan",
}
KNOWN = "*"
"""Behind a verdict that counts against the loop and is in its list of known failures."""

_TROUBLE = AGAINST | {"error"}

MOST_REASONS = 6
"""How many reasons why rows do not apply are named."""


def table(session: Session, *, brief: bool = False) -> Group:
    """Sync and async share a column: their verdicts differ seldom, and stand below each other where they do.

    ``brief``: of the rows only those that fail, and how many were not reached, for which what failed is the cause.
    Rows and columns that do not apply share a line in any case.
    """
    rows: dict[str, dict[str, list[Result]]] = defaultdict(lambda: defaultdict(list))
    for result in session.results:
        if result.verdict != "divergence":
            rows[result.requirement][result.cell].append(result)
    idle = {id: results for id, results in rows.items() if _verdicts(results) == {"not-applicable"}}
    shown = {id: results for id, results in rows.items() if id not in idle and (not brief or _is_against(results))}
    unreached = [id for id, results in shown.items() if _verdicts(results) & _TROUBLE == {"not-reached"}]
    if brief and len(unreached) < len(shown):
        shown = {id: results for id, results in shown.items() if id not in unreached}
    else:
        unreached = []
    columns: dict[tuple[str, bool], list[Cell]] = defaultdict(list)
    for cell in session.cells():
        if any(one.verdict != "not-applicable" for results in rows.values() for one in results.get(str(cell), ())):
            columns[cell.wire, cell.stream].append(cell)

    started = session.bench.started
    title = f"{started.name} {started.version} ({started.language})"
    told = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    ids = [row.id for row in session.catalogue if row.id in shown]
    told.add_column("requirement", min_width=max(map(len, ids), default=0))
    told.add_column("level", min_width=len("SHOULD"))
    for wire, stream in columns:
        provider, _, api = wire.rpartition("-")
        told.add_column(f"{provider}-\n{api}\n{'stream' if stream else 'plain'}")
    profile = ""
    for row in session.catalogue:
        if row.id not in shown:
            continue
        if row.profile != profile:
            profile = row.profile
            told.add_row(Text(profile, style="bold underline"))
        known = {
            cell: all(session.is_known(row.id, cell, one.case) for one in _against(shown[row.id].get(str(cell), [])))
            for cells in columns.values()
            for cell in cells
        }
        told.add_row(row.id, row.level, *(_column(cells, shown[row.id], known) for cells in columns.values()))
    lines = list(_below(rows, idle, left_out=len(rows) - len(idle) - len(shown) - len(unreached)))
    if unreached:
        more = f"{len(unreached)} more requirement{'s' if len(unreached) > 1 else ''}"
        lines.insert(0, f"{more} not reached, because of what failed")
    if session.known:
        lines.append(f"{KNOWN} a known failure")
    return Group(told, *(Text(line, style="dim") for line in lines))


def _verdicts(results: Mapping[str, list[Result]]) -> set[Verdict]:
    return {one.verdict for of_cell in results.values() for one in of_cell}


def _against(results: Sequence[Result]) -> list[Result]:
    return [one for one in results if one.verdict in AGAINST]


def _is_against(results: Mapping[str, list[Result]]) -> bool:
    return bool(_verdicts(results) & _TROUBLE)


def _below(
    rows: Mapping[str, Mapping[str, list[Result]]], idle: Mapping[str, Mapping[str, list[Result]]], *, left_out: int
) -> Iterator[str]:
    """What has no row or column of its own: what passed, and what does not apply."""
    if left_out:
        yield f"{left_out} more requirement{'s' if left_out > 1 else ''} passed wherever they apply"
    if idle:
        why = Counter(next(one.reason for of_cell in results.values() for one in of_cell) for results in idle.values())
        reasons = ", ".join(f"{_short(reason)} ({count})" for reason, count in why.most_common(MOST_REASONS))
        more = ", and others" if len(why) > MOST_REASONS else ""
        yield f"{len(idle)} requirement{'s do' if len(idle) > 1 else ' does'} not apply: {reasons}{more}"
    verdicts: dict[str, set[str]] = defaultdict(set)
    reasons_of: dict[str, str] = {}
    for results in rows.values():
        for cell, of_cell in results.items():
            for one in of_cell:
                verdicts[cell].add(one.verdict)
                reasons_of.setdefault(cell, one.reason)
    absent = [cell for cell, found in verdicts.items() if found == {"not-applicable"}]
    if absent and len(absent) < len(verdicts):
        dresses = dict.fromkeys(cell.rpartition("/")[0] for cell in absent)
        yield f"not applicable at all: {', '.join(dresses)}: {_short(reasons_of[absent[0]])}"


def _short(reason: str) -> str:
    """A reason why something does not apply, in as few words as tell it."""
    return reason.removeprefix("the driver declares ")


def _column(cells: Sequence[Cell], results: Mapping[str, list[Result]], known: Mapping[Cell, bool]) -> Text:
    """One verdict for all modes, or one for each."""
    words = {cell.mode: _verdict(results.get(str(cell), []), known[cell]) for cell in cells}
    first, *others = words.values()
    if all(first.markup == other.markup for other in others):
        return first
    return Text("\n").join(Text(f"{mode} ").append_text(word) for mode, word in words.items())


def _verdict(results: Sequence[Result], known: bool) -> Text:
    """One cell of the table: the worst verdict of its cases, and how many of them have it where not all do."""
    if not results:
        return Text("·", style="dim")
    verdict = worst(results)
    if verdict not in AGAINST:
        return Text("n/a" if verdict == "not-applicable" else verdict, style=STYLES[verdict])
    share = sum(result.verdict == verdict for result in results)
    several = f" {share}/{len(results)}" if share < len(results) else ""
    if known:
        return Text(f"{verdict}{KNOWN}{several}", style="yellow")
    return Text(verdict + several, style=STYLES[verdict])
