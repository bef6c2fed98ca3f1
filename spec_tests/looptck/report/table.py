"""The table of verdicts: a row for each requirement, a column for each wire, plain and streamed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from looptck.cells import Cell
from looptck.verdicts import AGAINST, Result, Verdict, worst

if TYPE_CHECKING:
    from looptck.session import Session

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


def table(session: Session) -> Table:
    """Sync and async share a column: their verdicts differ seldom, and stand below each other where they do."""
    rows: dict[str, dict[str, list[Result]]] = defaultdict(lambda: defaultdict(list))
    for result in session.results:
        if result.verdict != "divergence":
            rows[result.requirement][result.cell].append(result)
    columns: dict[tuple[str, bool], list[Cell]] = defaultdict(list)
    for cell in session.cells():
        if any(str(cell) in by_cell for by_cell in rows.values()):
            columns[cell.wire, cell.stream].append(cell)

    started = session.kit.started
    title = f"{started.name} {started.version} ({started.language})"
    shown = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    ids = [row.id for row in session.catalogue if row.id in rows]
    shown.add_column("requirement", min_width=max(map(len, ids), default=0))
    shown.add_column("level", min_width=len("SHOULD"))
    for wire, stream in columns:
        provider, _, api = wire.rpartition("-")
        shown.add_column(f"{provider}-\n{api}\n{'stream' if stream else 'plain'}")
    profile = ""
    for row in session.catalogue:
        if row.id not in rows:
            continue
        if row.profile != profile:
            profile = row.profile
            shown.add_row(Text(profile, style="bold underline"))
        known = {cell: session.is_known(row.id, cell) for cells in columns.values() for cell in cells}
        shown.add_row(row.id, row.level, *(_column(cells, rows[row.id], known) for cells in columns.values()))
    if session.known:
        shown.caption = f"{KNOWN} a known failure"
        shown.caption_justify = "left"
    return shown


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
