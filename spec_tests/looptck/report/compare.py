"""What ``looptck compare`` prints: verdicts and traits of two runs, side by side."""

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
from looptck.report.results import read
from looptck.report.table import STYLES
from looptck.report.traits import where
from looptck.values.verdicts import Verdict, counted

TOLD: dict[Change, str] = {
    "broken": "broken: passed in A, counts against B",
    "fixed": "fixed: counted against A, passes in B",
    "other": "changed otherwise",
    "gone": "gone: judged in A; in B not played, or no longer applicable",
    "new": "new: judged in B; in A not played, or not applicable",
    "same": "the same in both",
}
"""In the order in which they are told."""
COUNTED: dict[Change, str] = {**{change: change for change in TOLD}, "cases": "the same but for single cases"}
MOST_CASES = 4
"""The most cases that a line names."""


def compare(a: Path, b: Path, *, everything: bool = False, json_file: Path | None = None) -> int:
    """Compare the results in two files and print what a person reads; exit status 0, or 1 where they differ.

    Raises:
        BadFile: one of them is no file of results, or holds nothing that could be compared.
    """
    found = comparison(read(a), read(b))
    for run in (found.a, found.b):
        if not run.cells:
            raise BadFile(run.path, "holds no results: nothing ran, so there is nothing to compare")
    if json_file:
        text = json.dumps(found.serializable(everything=everything), indent=1, ensure_ascii=False) + "\n"
        json_file.write_text(text, encoding="utf-8")
    _print(output_console(), found, everything=everything)
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
            console.print(f"only {side.upper()} was played in {cells}", style="yellow", highlight=False)
    for change, words in TOLD.items():
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
"""A requirement, both verdicts, the cases where not all of them have these, and where."""


def _lines(rows: Sequence[Judged], change: Change, shared: set[str]) -> Iterator[Line]:
    """What changed in this way, a line for all cases and cells of a requirement with the same two verdicts."""
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
            console.print(f"{side} holds no traits: looptck {run.looptck} knew none, so they are not compared")
    for change, words in (
        ("other", "answered otherwise"),
        ("gone", "gone: asked in A, and not in B"),
        ("new", "new: asked in B, and not in A"),
        ("same", TOLD["same"]),
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
    """Cells are told together where both answers are the same, and of exact traits their details."""
    exact = one.trait in traits() and traits()[one.trait].exact
    sides = [(side or {}).get("answer", "") for side in (one.a, one.b)]
    details = [(side or {}).get("detail", "") if exact else "" for side in (one.a, one.b)]
    return one.trait, sides[0], sides[1], details[0], details[1]


def _answer(side: dict[str, str] | None) -> Text:
    if side is None:
        return Text("·", style="dim")
    told = Text(side["answer"], style="cyan")
    return told.append(f" {side['detail']}", style="dim") if side["detail"] else told


def _stable(rows: Sequence[Any], key: Callable[[Any], Any]) -> Callable[[Any], int]:
    """Sorts rows so that those of one key stand together, at the place of the first of them."""
    places: dict[Any, int] = {}
    for row in rows:
        places.setdefault(key(row), len(places))
    return lambda row: places[key(row)]


def _where(rows: Iterable[Asked], shared: set[str]) -> str:
    return ", ".join(where({one.cell for one in rows}, shared)) or "everywhere"


# -- words ------------------------------------------------------------------------------------------------------------


def _head(console: Console, title: str) -> None:
    """A line above a table, which may be longer than the table is wide."""
    console.print(Text(f"\n{title}", style="bold"))


def _grid(*columns: str) -> Table:
    shown = Table(box=None, pad_edge=False)
    for name in columns:
        shown.add_column(name, header_style="dim")
    return shown


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _summary(found: Comparison) -> str:
    """How much changed in the cells that both runs have."""
    rows = [one for one in found.requirements if one.cell in found.shared]
    told = []
    for what, changes in (
        ("requirements", [one.change for one in rows]),
        ("cases", [one.change for row in rows for one in row.cases]),
    ):
        if words := ", ".join(f"{changes.count(key)} {word}" for key, word in COUNTED.items() if key in changes):
            told.append(f"{what} by cell: {words}")
    answers = [one for one in found.traits if one.cell in found.shared]
    differ = sum(one.change != "same" for one in answers)
    told += [f"traits by cell: {differ} of {len(answers)} differ"] if answers else []
    return "; ".join(told) or "nothing was compared"
