"""The table of verdicts: a row for each requirement, a column for each wire, plain and streamed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

from looptck.values.cell import Cell
from looptck.values.plain import amount, begun, without_bodies
from looptck.values.verdicts import AGAINST, Result, Verdict, worst

if TYPE_CHECKING:
    from looptck.suite.record import Record

STYLES: dict[Verdict, str] = {
    "pass": "green",
    "fail": "bold red",
    "not-reached": "red",
    "not-applicable": "dim",
    "error": "bold magenta",
    "divergence": "cyan",
}
KNOWN = "*"
"""Marks a failure that is in the list of known failures."""

_TROUBLE = AGAINST | {"error"}

MOST_REASONS = 6
"""How many reasons for not-applicable requirements are listed."""


def table(record: Record, *, brief: bool = False) -> Group:
    """The table of verdicts. Sync and async share a column: their verdicts rarely differ; if so, both are shown.

    ``brief``: shows only failed requirements, and counts those that are not reached as a consequence.
    Requirements and cells that do not apply are always summed up in one line below the table.
    """
    rows: dict[str, dict[str, list[Result]]] = defaultdict(lambda: defaultdict(list))
    for result in record.results:
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
    for cell in record.cells():
        if any(one.verdict != "not-applicable" for results in rows.values() for one in results.get(str(cell), ())):
            columns[cell.wire, cell.stream].append(cell)

    started = record.started
    title = f"{started.name} {started.version} ({started.language})"
    verdicts_table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    ids = [row.id for row in record.catalogue if row.id in shown]
    verdicts_table.add_column("requirement", min_width=max(map(len, ids), default=0))
    verdicts_table.add_column("level", min_width=len("SHOULD"))
    for wire, stream in columns:
        provider, _, api = wire.rpartition("-")
        verdicts_table.add_column(f"{provider}-\n{api}\n{'stream' if stream else 'plain'}")
    profile = ""
    for row in record.catalogue:
        if row.id not in shown:
            continue
        if row.profile != profile:
            profile = row.profile
            verdicts_table.add_row(Text(profile, style="bold underline"))
        known = {
            cell: all(record.known_of(one) is not None for one in _against(shown[row.id].get(str(cell), [])))
            for cells in columns.values()
            for cell in cells
        }
        verdicts_table.add_row(row.id, row.level, *(_column(cells, shown[row.id], known) for cells in columns.values()))
    lines = list(_below(rows, idle, left_out=len(rows) - len(idle) - len(shown) - len(unreached)))
    if unreached:
        more = amount(len(unreached), "more requirement")
        lines.insert(0, f"{more} not reached, as a consequence of the failures above")
    if record.known:
        lines.append(f"{KNOWN} known failure")
    return Group(verdicts_table, *(Text(line, style="dim") for line in lines))


def _verdicts(results: Mapping[str, list[Result]]) -> set[Verdict]:
    return {one.verdict for of_cell in results.values() for one in of_cell}


def _against(results: Sequence[Result]) -> list[Result]:
    return [one for one in results if one.verdict in AGAINST]


def _is_against(results: Mapping[str, list[Result]]) -> bool:
    return bool(_verdicts(results) & _TROUBLE)


def _below(
    rows: Mapping[str, Mapping[str, list[Result]]], idle: Mapping[str, Mapping[str, list[Result]]], *, left_out: int
) -> Iterator[str]:
    """The lines below the table: the requirements and cells that have no row or column."""
    if left_out:
        yield f"{amount(left_out, 'more requirement')} passed in every applicable cell"
    verdicts: dict[str, set[str]] = defaultdict(set)
    reasons_of: dict[str, str] = {}
    for results in rows.values():
        for cell, of_cell in results.items():
            for one in of_cell:
                verdicts[cell].add(one.verdict)
                reasons_of.setdefault(cell, one.reason)
    absent = [cell for cell, found in verdicts.items() if found == {"not-applicable"}]
    if idle:
        why = Counter(_reason(results, absent) for results in idle.values())
        reasons = ", ".join(f"{_short(reason)} ({count})" for reason, count in why.most_common(MOST_REASONS))
        more = ", and others" if len(why) > MOST_REASONS else ""
        yield f"{len(idle)} requirement{'s do' if len(idle) > 1 else ' does'} not apply: {reasons}{more}"
    if absent and len(absent) < len(verdicts):
        dresses = dict.fromkeys(cell.rpartition("/")[0] for cell in absent)
        yield f"nothing applies to {', '.join(dresses)}: {_short(reasons_of[absent[0]])}"


def _reason(results: Mapping[str, list[Result]], absent: Sequence[str]) -> str:
    """Why a requirement does not apply, told by a cell to which others apply, where it has one."""
    cells = sorted(results, key=lambda cell: cell in absent)
    return next(one.reason for cell in cells for one in results[cell])


LONGEST = 240
"""The most characters of a reason."""


def _short(reason: str) -> str:
    """A reason for not-applicable in short: of the body of an error only its message."""
    return begun(without_bodies(reason.removeprefix("the driver declares ")), LONGEST)


def _column(cells: Sequence[Cell], results: Mapping[str, list[Result]], known: Mapping[Cell, bool]) -> Text:
    """One verdict for both modes, or one per mode if they differ."""
    words = {cell.mode: _verdict(results.get(str(cell), []), known[cell]) for cell in cells}
    first, *others = words.values()
    if all(first.markup == other.markup for other in others):
        return first
    return Text("\n").join(Text(f"{mode} ").append_text(word) for mode, word in words.items())


def _verdict(results: Sequence[Result], known: bool) -> Text:
    """One cell of the table: the worst verdict of its cases, and how many cases have it if not all do."""
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
