"""What ``looptck compare`` tells: verdicts and traits of two runs, side by side."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

from looptck.catalogue import IMPACTS, LEVELS, Requirement, catalogue
from looptck.report.table import STYLES
from looptck.report.traits import where
from looptck.results import Results, read
from looptck.traits import Answer, traits
from looptck.verdicts import AGAINST, Result, Verdict, counted, worst
from looptck.yamlfile import BadFile

Change = Literal["broken", "fixed", "other", "gone", "new", "same"]
TOLD: dict[Change, str] = {
    "broken": "broken: passed in A, counts against B",
    "fixed": "fixed: counted against A, passes in B",
    "other": "changed otherwise",
    "gone": "gone: judged in A, and not in B",
    "new": "new: judged in B, and not in A",
    "same": "the same in both",
}
"""In the order in which they are told."""
_WRONG = AGAINST | {"error"}


@dataclass(frozen=True, slots=True)
class Judged:
    """A requirement in a cell; None: there is no verdict."""

    requirement: str
    profile: str
    level: str
    impact: str | None
    cell: str
    a: Verdict | None
    b: Verdict | None
    change: Change


@dataclass(frozen=True, slots=True)
class Asked:
    """A trait in a cell; None: it was not asked."""

    trait: str
    cell: str
    a: dict[str, str] | None
    b: dict[str, str] | None
    change: Change
    """``other``, ``gone``, ``new`` or ``same``."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs, and where they differ."""

    a: Results
    b: Results
    requirements: tuple[Judged, ...]
    traits: tuple[Asked, ...]

    @property
    def differs(self) -> bool:
        """Whether anything does."""
        changes = {one.change for one in self.requirements} | {one.change for one in self.traits}
        return bool(changes - {"same"})

    def alone(self, side: str) -> list[str]:
        """The cells that one run has and the other has not."""
        own, other = (self.a, self.b) if side == "a" else (self.b, self.a)
        return sorted(own.cells - other.cells)

    def serializable(self, *, everything: bool = False) -> dict[str, Any]:
        """As ``--json`` writes it; ``fixtures/compare.schema.json`` is its schema."""
        return {
            "a": _described(self.a),
            "b": _described(self.b),
            "requirements": [asdict(one) for one in self.requirements if everything or one.change != "same"],
            "traits": [asdict(one) for one in self.traits if everything or one.change != "same"],
        }


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
    _print(Console(width=None if Console().is_terminal else 140), found, everything=everything)
    return 1 if found.differs else 0


def comparison(a: Results, b: Results) -> Comparison:
    """What is the same and what is not. Where one of them knows no traits they are not compared."""
    asked = _asked(a.traits, b.traits) if a.traits is not None and b.traits is not None else ()
    return Comparison(a, b, tuple(_judged(a.results, b.results)), tuple(asked))


def _judged(a: Sequence[Result], b: Sequence[Result]) -> list[Judged]:
    """All requirements in all cells: by level, then by what a user suffers, then as the catalogue has them."""
    known = {row.id: (place, row) for place, row in enumerate(catalogue())}
    sides = _worst(a), _worst(b)
    about = {(result.requirement, result.cell): result for result in (*a, *b)}
    rows = [
        Judged(id, result.profile, result.level, _impact(known.get(id)), cell, *verdicts, _changed(*verdicts))
        for (id, cell), result in about.items()
        for verdicts in [(sides[0].get((id, cell)), sides[1].get((id, cell)))]
        if verdicts != (None, None)
    ]

    def order(one: Judged) -> tuple[int, int, int, str]:
        impact = IMPACTS.index(one.impact) if one.impact else len(IMPACTS)
        return (
            LEVELS.index(one.level),
            impact,
            known[one.requirement][0] if one.requirement in known else len(known),
            one.requirement,
        )

    return sorted(rows, key=order)


def _worst(results: Iterable[Result]) -> dict[tuple[str, str], Verdict]:
    by: dict[tuple[str, str], list[Result]] = defaultdict(list)
    for result in results:
        if result.verdict != "divergence":
            by[result.requirement, result.cell].append(result)
    return {key: worst(of_one) for key, of_one in by.items()}


def _impact(known: tuple[int, Requirement] | None) -> str | None:
    return known[1].impact if known else None


def _changed(a: Verdict | None, b: Verdict | None) -> Change:
    if a == b:
        return "same"
    if a is None or b is None:
        return "new" if a is None else "gone"
    if a == "pass" and b in _WRONG:
        return "broken"
    return "fixed" if a in _WRONG and b == "pass" else "other"


def _asked(a: Sequence[Answer], b: Sequence[Answer]) -> list[Asked]:
    sides = [{(one.trait, one.cell): one for one in answers} for answers in (a, b)]
    places = {one.id: place for place, one in enumerate(traits())}
    keys = sorted({**sides[0], **sides[1]}, key=lambda key: places.get(key[0], len(places)))
    return [_both(key, sides[0].get(key), sides[1].get(key)) for key in keys]


def _both(key: tuple[str, str], a: Answer | None, b: Answer | None) -> Asked:
    exact = key[0] in traits() and traits()[key[0]].exact
    if a is None or b is None:
        change: Change = "new" if a is None else "gone"
    else:
        differ = a.answer != b.answer or (exact and a.detail != b.detail)
        change = "other" if differ else "same"
    told_a, told_b = (None if one is None else {"answer": one.answer, "detail": one.detail} for one in (a, b))
    return Asked(*key, told_a, told_b, change)


def _described(run: Results) -> dict[str, Any]:
    told = run.implementation
    return {
        "file": str(run.path),
        "looptck": run.looptck,
        "driver": run.driver,
        "name": told["name"],
        "version": told["version"],
        "language": told["language"],
        "summary": counted(run.results),
        "traits": None if run.traits is None else len(run.traits),
    }


def _print(console: Console, found: Comparison, *, everything: bool) -> None:
    for side, run in (("A", found.a), ("B", found.b)):
        of = Text(f"  {run.path}, looptck {run.looptck}", style="dim")
        console.print(Text(f"{side}  {run.name}", style="bold").append_text(of), soft_wrap=True)
    if found.requirements:
        console.print(_counts(found))
    for side in ("a", "b"):
        if alone := found.alone(side):
            cells = ", ".join(where(alone, found.a.cells | found.b.cells)) or "any cell"
            console.print(f"only {side.upper()} was played in {cells}", style="yellow", highlight=False)
    shared = found.a.cells & found.b.cells
    for change, words in TOLD.items():
        rows = [one for one in found.requirements if one.change == change and one.cell in shared]
        if rows and (everything or change != "same"):
            console.print(
                _requirements(f"{words} ({len({one.requirement for one in rows})} requirements)", rows, shared)
            )
    _print_traits(console, found, shared, everything=everything)
    console.print("\n" + _summary(found), highlight=False)


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


def _requirements(title: str, rows: Sequence[Judged], shared: set[str]) -> Table:
    shown = _grid(title, "level", "impact", "requirement", "A", "B", "where")
    key = attrgetter("requirement", "a", "b")
    for (id, a, b), group in groupby(sorted(rows, key=_stable(rows, key)), key=key):
        same = list(group)
        words = [Text(verdict, STYLES[verdict]) if verdict else Text("·", "dim") for verdict in (a, b)]
        shown.add_row(same[0].level, same[0].impact or "", id, *words, _where(same, shared))
    return shown


def _print_traits(console: Console, found: Comparison, shared: set[str], *, everything: bool) -> None:
    for side, run in (("A", found.a), ("B", found.b)):
        if run.traits is None:
            console.print(f"{side} holds no traits: looptck {run.looptck} knew none, so they are not compared")
    for change, words in (
        ("other", "answered otherwise"),
        ("gone", TOLD["gone"]),
        ("new", TOLD["new"]),
        ("same", TOLD["same"]),
    ):
        rows = [one for one in found.traits if one.change == change and one.cell in shared]
        if not rows or (change == "same" and not everything):
            continue
        shown = _grid(
            f"traits, {words.replace('judged', 'asked')} ({len({one.trait for one in rows})})",
            "trait",
            "A",
            "B",
            "where",
        )
        key = _by_answers
        for (id, *_), group in groupby(sorted(rows, key=_stable(rows, key)), key=key):
            same = list(group)
            shown.add_row(id, _answer(same[0].a), _answer(same[0].b), _where(same, shared))
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


def _where(rows: Iterable[Judged | Asked], shared: set[str]) -> str:
    return ", ".join(where({one.cell for one in rows}, shared)) or "everywhere"


def _grid(title: str, *columns: str) -> Table:
    shown = Table(title=f"\n{title}", title_justify="left", title_style="bold", box=None, pad_edge=False)
    for name in columns:
        shown.add_column(name, header_style="dim")
    return shown


def _summary(found: Comparison) -> str:
    changes = [one.change for one in found.requirements]
    words = ", ".join(f"{changes.count(change)} {change}" for change in TOLD if change in changes)
    differ = sum(one.change != "same" for one in found.traits)
    told = [f"requirements by cell: {words}"] if words else []
    told += [f"traits by cell: {differ} of {len(found.traits)} differ"] if found.traits else []
    return "; ".join(told) or "nothing was compared"
