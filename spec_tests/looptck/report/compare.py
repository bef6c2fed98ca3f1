"""The report of ``looptck compare``: verdicts and traits of two runs, side by side."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from looptck.catalogue.traits import traits
from looptck.catalogue.yaml_files import BadFile
from looptck.report.comparing import Asked, Change, Comparison, Judged, comparison
from looptck.report.console import output_console
from looptck.report.files import write_all
from looptck.report.results import read
from looptck.report.table import STYLES
from looptck.report.traits import where
from looptck.values.verdicts import Verdict, counted

HEADINGS: dict[Change, str] = {
    "broken": "broken: passed in A, fails or is not reached in B",
    "fixed": "fixed: failed or was not reached in A, passes in B",
    "other": "changed otherwise",
    "gone": "gone: judged in A; not played or not applicable in B",
    "new": "new: judged in B; not played or not applicable in A",
    "same": "the same in both",
}
"""The heading for each change, in the order of the report."""
COUNTED: dict[Change, str] = {**{change: change for change in HEADINGS}, "cases": "the same except for single cases"}
MOST_CASES = 4
"""The most cases that a line names."""


def compare(a: Path, b: Path, *, everything: bool = False, json_file: Path | None = None) -> int:
    """Compare the results in two files and print the report; exit status 0, or 1 if they differ.

    Raises:
        BadFile: one of them is not a results file, or holds no results.
    """
    found = comparison(read(a), read(b))
    for run in (found.a, found.b):
        if not run.cells:
            raise BadFile(run.path, "holds no results: no check ran, so there is nothing to compare")
    console = output_console()
    _print(console, found, everything=everything)
    if json_file:
        text = json.dumps(found.serializable(everything=everything), indent=1, ensure_ascii=False) + "\n"
        if write_all({json_file: text}, console):
            return 2
    return 1 if found.differs else 0


def _print(console: Console, found: Comparison, *, everything: bool) -> None:
    for side, run in (("A", found.a), ("B", found.b)):
        of = Text(f"  {run.path}, looptck {run.looptck}", style="dim")
        console.print(Text(f"{side}  {run.name}", style="bold").append_text(of), soft_wrap=True)
    for warning in found.warnings:
        console.print(Text(f"warning: {warning}", style="bold yellow"))
    if found.requirements:
        console.print(_counts(found))
    for side in ("a", "b"):
        if alone := found.alone(side):
            cells = ", ".join(where(alone, found.a.cells | found.b.cells)) or "any cell"
            console.print(f"only {side.upper()} has results in {cells}", style="yellow", highlight=False)
    for change, words in HEADINGS.items():
        if change == "same" and not everything:
            continue
        rows = [one for one in found.requirements if one.cell in found.shared]
        lines = list(_lines(rows, change, found.shared))
        if lines:
            _head(console, f"{words} ({_many(len({id for id, *_ in lines}), 'requirement')})")
            console.print(_requirements(lines, rows))
    _print_traits(console, found, everything=everything)
    console.print("\n" + _summary(found), highlight=False, soft_wrap=True)


def _counts(found: Comparison) -> Table:
    """How often each verdict was given."""
    shown = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("", "A", "B"):
        shown.add_column(name, justify="right" if name else "left")
    sides = counted(found.a.results), counted(found.b.results)
    for verdict, style in STYLES.items():
        if verdict != "divergence" and (sides[0][verdict] or sides[1][verdict]):
            shown.add_row(Text(verdict, style), *(str(side[verdict]) for side in sides))
    return shown


# -- requirements -----------------------------------------------------------------------------------------------------

Line = tuple[str, Verdict | None, Verdict | None, str, str]
"""A requirement, both verdicts, the cases if not all have these verdicts, and the cells."""


def _lines(rows: Sequence[Judged], change: Change, shared: set[str]) -> Iterator[Line]:
    """The requirements with this change: a line for all cases and cells with the same two verdicts."""
    for id, of_id in groupby(rows, key=lambda one: one.requirement):
        cells: dict[tuple[Verdict | None, Verdict | None, str], list[str]] = defaultdict(list)
        for row in of_id:
            alike: dict[tuple[Verdict | None, Verdict | None], list[str]] = defaultdict(list)
            for one in row.cases:
                if one.change == change:
                    alike[one.a, one.b].append(one.case)
            for (a, b), cases in alike.items():
                cells[a, b, "" if len(cases) == len(row.cases) else _few(cases)].append(row.cell)
        for (a, b, names), there in cells.items():
            yield id, a, b, names, ", ".join(where(there, shared)) or "everywhere"


def _few(cases: Sequence[str]) -> str:
    more = f", and {len(cases) - MOST_CASES} more" if len(cases) > MOST_CASES else ""
    return ", ".join(cases[:MOST_CASES]) + more


def _requirements(lines: Sequence[Line], rows: Sequence[Judged]) -> Table:
    about = {one.requirement: one for one in rows}
    shown = _grid("level", "impact", "requirement", "A", "B", "cases", "where")
    for id, a, b, cases, there in lines:
        words = [Text(verdict, STYLES[verdict]) if verdict else Text("·", "dim") for verdict in (a, b)]
        shown.add_row(about[id].level, about[id].impact or "", id, *words, Text(cases), there)
    return shown


# -- traits -----------------------------------------------------------------------------------------------------------


def _print_traits(console: Console, found: Comparison, *, everything: bool) -> None:
    for side, run in (("A", found.a), ("B", found.b)):
        if run.traits is None:
            console.print(
                f"{side} has no traits (looptck {run.looptck} did not record any), so traits are not compared"
            )
    for change, words in (
        ("other", "different answers"),
        ("gone", "gone: asked in A, not in B"),
        ("new", "new: asked in B, not in A"),
        ("same", HEADINGS["same"]),
    ):
        rows = [one for one in found.traits if one.change == change and one.cell in found.shared]
        if not rows or (change == "same" and not everything):
            continue
        _head(console, f"traits, {words} ({len({one.trait for one in rows})})")
        shown = _grid("trait", "A", "B", "where")
        key = _by_answers
        for (id, *_), group in groupby(sorted(rows, key=_stable(rows, key)), key=key):
            same = list(group)
            shown.add_row(id, _answer(same[0].a), _answer(same[0].b), _where(same, found.shared))
        console.print(shown)


def _by_answers(one: Asked) -> tuple[str, str, str, str, str]:
    """The sort key of a line: cells with the same answers share one; for exact traits the details count too."""
    exact = one.trait in traits() and traits()[one.trait].exact
    sides = [(side or {}).get("answer", "") for side in (one.a, one.b)]
    details = [(side or {}).get("detail", "") if exact else "" for side in (one.a, one.b)]
    return one.trait, sides[0], sides[1], details[0], details[1]


def _answer(side: dict[str, str] | None) -> Text:
    if side is None:
        return Text("·", style="dim")
    text = Text(side["answer"], style="cyan")
    return text.append(f" {side['detail']}", style="dim") if side["detail"] else text


def _stable(rows: Sequence[Any], key: Callable[[Any], Any]) -> Callable[[Any], int]:
    """A sort key that groups rows by `key`, in the order of first occurrence."""
    places: dict[Any, int] = {}
    for row in rows:
        places.setdefault(key(row), len(places))
    return lambda row: places[key(row)]


def _where(rows: Iterable[Asked], shared: set[str]) -> str:
    return ", ".join(where({one.cell for one in rows}, shared)) or "everywhere"


# -- words ------------------------------------------------------------------------------------------------------------


def _head(console: Console, title: str) -> None:
    """A heading above a table; it may be wider than the table."""
    console.print(Text(f"\n{title}", style="bold"))


def _grid(*columns: str) -> Table:
    shown = Table(box=None, pad_edge=False)
    for name in columns:
        shown.add_column(name, header_style="dim")
    return shown


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _summary(found: Comparison) -> str:
    """The counts of changes in the cells that both runs have."""
    rows = [one for one in found.requirements if one.cell in found.shared]
    parts = []
    for what, changes in (
        ("requirements", [one.change for one in rows]),
        ("cases", [one.change for row in rows for one in row.cases]),
    ):
        if words := ", ".join(f"{changes.count(key)} {word}" for key, word in COUNTED.items() if key in changes):
            parts.append(f"{what} by cell: {words}")
    answers = [one for one in found.traits if one.cell in found.shared]
    differ = sum(one.change != "same" for one in answers)
    parts += [f"traits by cell: {differ} of {len(answers)} differ"] if answers else []
    return "; ".join(parts) or "nothing was compared"
