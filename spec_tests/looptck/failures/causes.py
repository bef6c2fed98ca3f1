"""Causes: groups of failures (see `groups`), each named after a requirement, so that one fault is reported once.

A cause is named after its most specific requirement: one that failed, is not about whole conversations, and has most
of its failures in this group; of those that fail often here, or every time, one that needs nothing that only some loops
can do, such as to be cancelled; then the one with the worst impact; of equal
ones one that mostly fails in the cells of the group. A fault in ordinary traffic fails almost all of them, and some
signs name it by themselves (see `pointed`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from looptck.catalogue.known_failures import Known
from looptck.catalogue.requirements import IMPACTS, LEVELS, Requirement
from looptck.failures.groups import Finding, Key, grouped, scripted
from looptck.failures.order import EVERYWHERE, impact, order
from looptck.failures.pointed import pointed
from looptck.failures.signs import WEAK
from looptck.values.printable import untimed
from looptck.values.verdicts import Result

HUNG = "liveness:"
"""How the reason begins of a check in which the loop gave no outcome."""
SHARE = 3
"""A requirement that passes elsewhere names a cause only with at least 1 / SHARE of the failures of the top one."""
ALWAYS = 2
"""A requirement that never passes names a cause only with at least this many failures: one may be chance."""
EVERY_RUN = frozenset({"stream", "plain", "chunks", "concurrent"})
"""The capabilities that say how a loop is played, and nothing of what it can do besides."""


@dataclass(slots=True)
class Cause:
    """Failures with one cause, and the requirement that names it."""

    id: str
    row: Requirement
    findings: Sequence[Finding]
    example: Finding = field(init=False)
    """The smallest failure of the requirement that names the cause."""

    def __post_init__(self) -> None:
        self.example = min(self.named, key=lambda one: (one.result.verdict != "fail", one.size))

    @property
    def named(self) -> list[Finding]:
        """The failures of the requirement that names the cause."""
        return [one for one in self.findings if one.result.requirement == self.row.id]

    @property
    def noticed_by(self) -> dict[str, list[Finding]]:
        """The failures of other requirements, those with most failures first."""
        others: dict[str, list[Finding]] = defaultdict(list)
        for one in self.findings:
            if one.result.requirement != self.row.id:
                others[one.result.requirement].append(one)
        return dict(sorted(others.items(), key=lambda pair: -len(pair[1])))

    @property
    def verdicts(self) -> dict[str, int]:
        """The number of failures per verdict."""
        return dict(Counter(one.result.verdict for one in self.findings).most_common())

    @property
    def named_in(self) -> list[str]:
        """The cells in which the requirement that names the cause has failed."""
        return list(dict.fromkeys(one.result.cell for one in self.named))

    @property
    def cells(self) -> list[str]:
        return list(dict.fromkeys(one.result.cell for one in self.findings))

    @property
    def cases(self) -> dict[str, int]:
        """The cases with their number of failures, those of the naming requirement first."""
        return dict(Counter(one.result.case for one in (*self.named, *self.findings)))


def causes(findings: Sequence[Finding], rows: Mapping[str, Requirement], results: Iterable[Result] = ()) -> list[Cause]:
    """The causes of these failures, in their order (see `order`).

    ``results`` are all results of the run: they show which requirements also pass.
    """
    results = [*results]
    judged = Counter((one.requirement, one.cell) for one in results if one.verdict in {"pass", "fail"})
    beyond = _beyond((*results, *(one.result for one in findings)), rows)
    groups = grouped(findings, rows)
    homes = _homes(groups)
    named = _joined(
        [
            (key, _row(key, group, rows, homes, _within(judged, _ordinary(group, rows)), beyond), group)
            for key, group in groups.items()
        ]
    )
    checks = sum(judged.values())
    named.sort(key=lambda one: order(one[0], one[1], checks))
    ids: Counter[str] = Counter()
    found = []
    for row, group in named:
        ids[row.id] += 1
        found.append(Cause(row.id if ids[row.id] == 1 else f"{row.id}-{ids[row.id]}", row, group))
    return found


def details(
    results: Sequence[Result],
    findings: Sequence[Finding],
    found: Sequence[Cause],
    rows: Mapping[str, Requirement],
    known_of: Callable[[Result], Known | None],
) -> list[dict[str, Any]]:
    """Results as JSON, each with the impact of its requirement; a failure also with its cause and its report.

    A failure that is known has the reason of the first entry that covers it.
    """
    by_result = {id(one.result): one for one in findings}
    names = {id(one.result): cause.id for cause in found for one in cause.findings}
    detailed = []
    for result in results:
        more: dict[str, Any] = {"impact": rows[result.requirement].impact} if result.requirement in rows else {}
        if (one := by_result.get(id(result))) is not None:
            more |= {"cause": names[id(result)], "detail": untimed(one.text)}
            if (entry := known_of(result)) is not None:
                more["known"] = entry.reason
        detailed.append(result.serializable() | more)
    return detailed


def _joined(named: Sequence[tuple[Key, Requirement, list[Finding]]]) -> list[tuple[Requirement, list[Finding]]]:
    """Join groups that are named after the same requirement, unless their signs are firm or errors."""
    found: list[tuple[Requirement, list[Finding]]] = []
    loose: dict[str, list[Finding]] = {}
    for key, row, group in named:
        if key[0] not in {*WEAK - {"error"}, "row"}:
            found.append((row, group))
        elif row.id in loose:
            loose[row.id] += group
        else:
            loose[row.id] = group
            found.append((row, group))
    return found


def documented(found: Sequence[Cause], places: Mapping[int, int]) -> list[dict[str, Any]]:
    """Causes as JSON; ``places`` maps the identity of each result to its index among the results."""
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
            **({} if cause.example.receipt is None else {"receipt": cause.example.receipt}),
            "results": sorted(places[id(one.result)] for one in cause.findings),
        }
        for cause in found
    ]


# -- naming -----------------------------------------------------------------------------------------------------------


def _ordinary(group: Sequence[Finding], rows: Mapping[str, Requirement]) -> Sequence[Finding]:
    """The failures of a cause that tell where its fault is.

    A row about whole conversations also fails on a wire that is right and is compared with another, and a recording of
    another wire may end in the same way for a reason of its own.
    """
    told = scripted([one for one in group if one.result.verdict == "fail"] or group)
    return [one for one in told if one.result.requirement in rows and not rows[one.result.requirement].general] or group


def _within(judged: Mapping[tuple[str, str], int], group: Sequence[Finding]) -> Mapping[str, int]:
    """How often each requirement was judged in the cells in which a cause has failures, such as those of one wire."""
    cells = {one.result.cell for one in group}
    found: Counter[str] = Counter()
    for (row, cell), times in judged.items():
        if cell in cells:
            found[row] += times
    return found


def _homes(groups: Mapping[Key, Sequence[Finding]]) -> dict[str, Key]:
    """The group that has most failures of each requirement."""
    counts: dict[str, Counter[Key]] = defaultdict(Counter)
    for key, group in groups.items():
        for one in group:
            counts[one.result.requirement][key] += 1 + (one.result.verdict == "fail")
    return {row: count.most_common(1)[0][0] for row, count in counts.items()}


def _beyond(results: Iterable[Result], rows: Mapping[str, Requirement]) -> frozenset[str]:
    """The cases that need what not every loop can do: a row about such a thing is judged by them, and no other passes.

    A row about all runs may fail in one of these too, as the one about refused requests.
    """
    judged = [one for one in results if one.requirement in rows and one.verdict != "not-applicable"]
    more = {one.case for one in judged if _asks_more(rows[one.requirement])}
    return frozenset(
        more - {one.case for one in judged if one.verdict == "pass" and not _asks_more(rows[one.requirement])}
    )


def _asks_more(row: Requirement) -> bool:
    """Whether a row is about something that not every loop can do, such as to be cancelled."""
    return not EVERY_RUN.issuperset(row.needs)


def _row(
    key: Key,
    group: Sequence[Finding],
    rows: Mapping[str, Requirement],
    homes: Mapping[str, Key],
    judged: Mapping[str, int],
    beyond: frozenset[str],
) -> Requirement:
    """The requirement that names a cause."""
    failed = _telling([one for one in group if one.result.verdict == "fail"] or group)
    if (name := pointed(key, failed, judged)) is not None:
        return rows[name]
    counts = Counter(one.result.requirement for one in failed)
    told = {one.result.requirement for one in scripted(failed)}
    special = {id: count for id, count in counts.items() if id in told and not rows[id].general}
    if sum(special.values()) * EVERYWHERE <= max(counts.values()):
        special = dict(counts)
    at_home = {id: count for id, count in special.items() if homes[id] == key} or special
    most = max(at_home.values())
    chosen = {id for id, n in at_home.items() if n * SHARE >= most or (n >= ALWAYS and n == judged.get(id))}
    usual = {one.result.requirement for one in failed if one.result.case not in beyond}
    basic = {id for id in chosen & usual if not _asks_more(rows[id])}  # a fault of what few can do does not show there
    in_order = [row for id, row in rows.items() if id in (basic or chosen)]  # the catalogue begins with basic ones
    worst = IMPACTS.index("broken") if key[0] == "error" else 0  # a run that raised has run nothing unasked
    return min(
        in_order,
        key=lambda row: (max(worst, impact(row)), LEVELS.index(row.level), counts[row.id] * 2 < judged.get(row.id, 0)),
    )


def _telling(failed: Sequence[Finding]) -> Sequence[Finding]:
    """Those that say more than that the loop hung, if they are most: one fault may also hang where it meets another."""
    told = [one for one in failed if not one.result.reason.startswith(HUNG)]
    return told if len(told) * 2 > len(failed) else failed


# -- cells ------------------------------------------------------------------------------------------------------------


def patterns(cells: Iterable[str], all_cells: Iterable[str]) -> list[str]:
    """The fewest patterns, such as ``openai-chat/stream/*``, that match these cells and no others."""
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
