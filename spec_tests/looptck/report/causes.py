"""Causes: the failures of a run, grouped by what went wrong first, so that one fault is told once.

Failures have one cause where the runs that they rest on show one sign, the first event that is not as it should be.
Where the events of a run show nothing wrong, what fails on it has one cause, and else each requirement has its own. A
cause bears the name of the row that says most: one that failed, that is not about whole conversations, and whose
failures are mostly here; of those the one with the worst impact.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from looptck.catalogue import IMPACTS, LEVELS, Requirement
from looptck.report.signs import WEAK, Sign
from looptck.verdicts import Result

BASIC = frozenset({"unsafe", "broken"})
"""The impacts of faults in ordinary traffic, which break what is rarer too."""
SHARE = 3
"""A row names a cause only with at least this part of the failures of the row that has most of them."""
Key = tuple[str, ...]


@dataclass(slots=True)
class Finding:
    """What is known of one verdict that counts against the implementation, in words that outlive its run."""

    result: Result
    sign: Sign | None = None
    runs: tuple[str, ...] = ()
    """The ids of the runs that it rests on."""
    text: str = ""
    """All that can be told of it."""
    evidence: Sequence[str] = ()
    """The lines of it that show best what is wrong."""
    again: str = ""
    trace: str = ""
    """The folder with all that went to and fro."""
    size: int = 0
    """How much happened: of several examples the smallest is shown."""
    known: bool = False


@dataclass(slots=True)
class Cause:
    """Failures with one cause, under the row that names it."""

    id: str
    row: Requirement
    findings: Sequence[Finding]
    example: Finding = field(init=False)
    """The smallest of the failures that name it."""

    def __post_init__(self) -> None:
        self.example = min(self.named, key=lambda one: (one.result.verdict != "fail", one.size))

    @property
    def named(self) -> list[Finding]:
        """The failures of the row that names it."""
        return [one for one in self.findings if one.result.requirement == self.row.id]

    @property
    def noticed_by(self) -> dict[str, list[Finding]]:
        """The failures of other rows, those of most failures first."""
        others: dict[str, list[Finding]] = defaultdict(list)
        for one in self.findings:
            if one.result.requirement != self.row.id:
                others[one.result.requirement].append(one)
        return dict(sorted(others.items(), key=lambda pair: -len(pair[1])))

    @property
    def verdicts(self) -> dict[str, int]:
        """How many of its failures have which verdict."""
        return dict(Counter(one.result.verdict for one in self.findings).most_common())

    @property
    def cells(self) -> list[str]:
        return list(dict.fromkeys(one.result.cell for one in self.findings))

    @property
    def cases(self) -> dict[str, int]:
        """The cases and how often each is hit, those of the row that names it first."""
        return dict(Counter(one.result.case for one in (*self.named, *self.findings)))


def causes(findings: Sequence[Finding], rows: Mapping[str, Requirement]) -> list[Cause]:
    """The causes of these failures: what is nobody's verdict first, then by impact, level and size."""
    groups = _groups(findings, rows)
    homes = _homes(groups)
    named = _joined([(key, _row(key, group, rows, homes), group) for key, group in groups.items()])
    named.sort(key=lambda one: _order(*one))
    ids: Counter[str] = Counter()
    found = []
    for row, group in named:
        ids[row.id] += 1
        found.append(Cause(row.id if ids[row.id] == 1 else f"{row.id}-{ids[row.id]}", row, group))
    return found


def details(
    results: Sequence[Result], findings: Sequence[Finding], found: Sequence[Cause], rows: Mapping[str, Requirement]
) -> list[dict[str, Any]]:
    """Results as JSON, each with the impact of its row, and where it counts against with its cause and all its text."""
    by_result = {id(one.result): one for one in findings}
    names = {id(one.result): cause.id for cause in found for one in cause.findings}
    told = []
    for result in results:
        more: dict[str, Any] = {"impact": rows[result.requirement].impact} if result.requirement in rows else {}
        if (one := by_result.get(id(result))) is not None:
            more |= {"cause": names[id(result)], "detail": one.text}
        told.append(result.serializable() | more)
    return told


def _joined(named: Sequence[tuple[Key, Requirement, list[Finding]]]) -> list[tuple[Requirement, list[Finding]]]:
    """Causes of one name are one, unless their signs are firm and say that they are not."""
    found: list[tuple[Requirement, list[Finding]]] = []
    loose: dict[str, list[Finding]] = {}
    for key, row, group in named:
        if key[0] not in {*WEAK, "row"}:
            found.append((row, group))
        elif row.id in loose:
            loose[row.id] += group
        else:
            loose[row.id] = group
            found.append((row, group))
    return found


def documented(found: Sequence[Cause], places: Mapping[int, int]) -> list[dict[str, Any]]:
    """Causes as JSON; ``places`` has the place of each result among the results, by its identity."""
    return [
        {
            "id": cause.id,
            "requirement": cause.row.id,
            "level": cause.row.level,
            "impact": cause.row.impact,
            "text": cause.row.text,
            "source": cause.row.source,
            "verdicts": cause.verdicts,
            "because": cause.example.result.reason,
            "cells": cause.cells,
            "cases": list(cause.cases),
            "noticed_by": {id: len(others) for id, others in cause.noticed_by.items()},
            "evidence": list(cause.example.evidence),
            "again": cause.example.again,
            "trace": cause.example.trace or None,
            "results": sorted(places[id(one.result)] for one in cause.findings),
        }
        for cause in found
    ]


# -- grouping ---------------------------------------------------------------------------------------------------------


def _groups(findings: Sequence[Finding], rows: Mapping[str, Requirement]) -> dict[Key, list[Finding]]:
    """Failures by cause: first by sign, then what has none by run."""
    by_sign: dict[Sign | None, list[Finding]] = defaultdict(list)
    groups: dict[Key, list[Finding]] = defaultdict(list)
    for one in findings:
        if one.result.verdict == "error":
            groups["fault", _kind(one.result.reason)].append(one)
        else:
            by_sign[one.sign].append(one)
    for sign, alike in by_sign.items():
        if sign is None:
            groups |= _by_run(alike)
        elif sign[0] in WEAK:
            groups |= _apart(sign, alike, rows)
        else:
            groups[sign] += alike
    return groups


def _kind(reason: str) -> str:
    """What sort of fault of the driver or of the kit it was: the words before the details."""
    return re.sub(r"\d+", "0", ":".join(reason.split(":")[:2]))


def _by_run(findings: Sequence[Finding]) -> dict[Key, list[Finding]]:
    """What shares a row or a run: neither has anything else by which to tell causes apart."""
    leaders: dict[str, str] = {}

    def leader(name: str) -> str:
        while leaders.setdefault(name, name) != name:
            name = leaders[name]
        return name

    for one in findings:
        for run in one.runs:
            leaders[leader(f"run {run}")] = leader(one.result.requirement)
    groups: dict[Key, list[Finding]] = defaultdict(list)
    for one in findings:
        groups["row", leader(one.result.requirement)].append(one)
    return groups


def _apart(sign: Sign, findings: Sequence[Finding], rows: Mapping[str, Requirement]) -> dict[Key, list[Finding]]:
    """Failures with a sign that many a fault leads to: one cause where ordinary traffic fails, else each row its own.

    Rows about whole conversations, and checks that were not reached, go with what they have noticed.
    """

    def names(one: Finding) -> bool:
        return one.result.verdict == "fail" and not rows[one.result.requirement].general

    groups: dict[Key, list[Finding]] = defaultdict(list)
    ordinary = {_dress(one) for one in findings if names(one) and rows[one.result.requirement].impact in BASIC}
    left = []
    for one in findings:
        if _dress(one) in ordinary:
            groups[sign].append(one)
        elif names(one):
            groups[*sign, one.result.requirement].append(one)
        else:
            left.append(one)
    for one in left:
        there = [key for key, group in groups.items() if any(_dress(other) == _dress(one) for other in group)]
        groups[there[0] if there else (*sign, one.result.requirement)].append(one)
    return groups


def _dress(one: Finding) -> str:
    """Wire and plain or stream: what is read by one reader."""
    return one.result.cell.rpartition("/")[0]


# -- naming -----------------------------------------------------------------------------------------------------------


def _homes(groups: Mapping[Key, Sequence[Finding]]) -> dict[str, Key]:
    """The cause in which most failures of a row are."""
    counts: dict[str, Counter[Key]] = defaultdict(Counter)
    for key, group in groups.items():
        for one in group:
            counts[one.result.requirement][key] += 1 + (one.result.verdict == "fail")
    return {row: count.most_common(1)[0][0] for row, count in counts.items()}


def _row(key: Key, group: Sequence[Finding], rows: Mapping[str, Requirement], homes: Mapping[str, Key]) -> Requirement:
    """The row that names a cause."""
    failed = Counter(one.result.requirement for one in group if one.result.verdict == "fail")
    counts = failed or Counter(one.result.requirement for one in group)
    special = {id: count for id, count in counts.items() if not rows[id].general} or counts
    at_home = {id: count for id, count in special.items() if homes[id] == key} or special
    most = max(at_home.values())
    chosen = {id for id, count in at_home.items() if count * SHARE >= most}
    in_order = [row for id, row in rows.items() if id in chosen]  # the catalogue begins with what all else rests on
    return min(in_order, key=lambda row: (_impact(row), LEVELS.index(row.level)))


def _order(row: Requirement, group: Sequence[Finding]) -> tuple[bool, int, bool, int, int]:
    verdicts = {one.result.verdict for one in group}
    return "error" not in verdicts, _impact(row), "fail" not in verdicts, LEVELS.index(row.level), -len(group)


def _impact(row: Requirement) -> int:
    return IMPACTS.index(row.impact) if row.impact in IMPACTS else len(IMPACTS)


# -- cells ------------------------------------------------------------------------------------------------------------


def patterns(cells: Iterable[str], all_cells: Iterable[str]) -> list[str]:
    """The fewest patterns such as ``openai-chat/stream/*`` that stand for these cells, of all that there are."""
    wanted, known = {*cells}, sorted({*all_cells, *cells})
    if wanted == {*known} and len(known) > 1:
        return ["*"]
    found = []
    for wire, of_wire in groupby(known, key=lambda cell: cell.partition("/")[0]):
        own = list(of_wire)
        if {*own} <= wanted and len(own) > 1:
            found.append(f"{wire}/*/*")
            continue
        for dress, of_dress in groupby(own, key=lambda cell: cell.rpartition("/")[0]):
            modes = list(of_dress)
            whole = {*modes} <= wanted and len(modes) > 1
            found += [f"{dress}/*"] if whole else [cell for cell in modes if cell in wanted]
    return found
