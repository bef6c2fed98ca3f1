"""Groups: which failures of a run have the same cause, judged by the first wrong event of their runs (the sign).

1. Failures with the same firm sign, such as a refused request or a missing tool result, have one cause, whatever their
   wire and their requirement.
2. A weak sign can follow from many faults: an error message, an answer that should not be, a tool that ran. A message
   such as ``Expecting value: line 1`` does not show where it came from. So:
   - if ordinary traffic fails with the sign, all failures with it on the same wire (plain or stream) have one cause: a
     loop that raises on every request has one fault, not a hundred;
   - else failures have one cause if they share a requirement, a run, or (on one wire) what was unusual about the last
     reply: two requirements that play the same rare stream and end in the same error show one fault, but an error on
     CR line ends is a different fault than the same error on a call without arguments;
   - if more than `MOST_ROWS` requirements on one wire would still be separate causes with one error, they are one cause
     after all: no loop has so many faults with the same message. A message without words (``KeyError: …``) does not
     count;
   - requirements about whole conversations do not name a cause, and neither do recordings where a scripted case fails.
     They join a requirement that shares a run, or else the sign, the wire and what was unusual; if there is none, each
     is a separate cause.
3. If the events of the runs show nothing wrong, failures that share a run have one cause; otherwise each requirement is
   a separate cause.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from looptck.catalogue.requirements import Requirement
from looptck.failures.signs import OF_AN_ERROR, WEAK, Sign
from looptck.values.printable import printable, steady
from looptck.values.recorded import played_scenario
from looptck.values.verdicts import Result

BASIC = frozenset({"unsafe", "broken"})
"""The impacts of faults in ordinary traffic, which break rarer traffic too."""
MOST_ROWS = 6
"""The most requirements of one wire, plain or stream, that are separate causes with one error."""
Key = tuple[str, ...]


@dataclass(slots=True)
class Finding:
    """The details of one verdict that counts against the implementation, as text that outlives its run."""

    result: Result
    sign: Sign | None = None
    runs: tuple[str, ...] = ()
    """The ids of the runs that the verdict was read from."""
    text: str = ""
    """The full report."""
    evidence: Sequence[str] = ()
    """The lines of the report with the best evidence."""
    ending: str = ""
    """What ended the run early, if the reason does not say it: a refused request, or the loop's error."""
    again: str = ""
    trace: str = ""
    """The folder with the traffic of the run."""
    size: int = 0
    """The number of events: of several examples the smallest is shown."""
    known: bool = False
    receipt: Sequence[Mapping[str, Any]] | None = None
    """The steps of the run; None if nothing ran."""

    def __post_init__(self) -> None:
        self.text = steady(printable(self.text))
        self.ending = steady(printable(self.ending))
        self.evidence = [steady(printable(line)) for line in self.evidence]


def grouped(findings: Sequence[Finding], rows: Mapping[str, Requirement]) -> dict[Key, list[Finding]]:
    """Failures by cause. A key begins with the sign's kind; ``fault``: of the driver; ``row``: there is no sign."""
    by_sign: dict[Sign | None, list[Finding]] = defaultdict(list)
    groups: dict[Key, list[Finding]] = defaultdict(list)
    for one in findings:
        if one.result.verdict == "error":
            groups["fault", _kind(one.result.reason)].append(one)
        else:
            by_sign[_short_sign(one)].append(one)
    for sign, alike in by_sign.items():
        if sign is None:
            groups |= _by_run(alike)
        elif sign[0] in WEAK:
            groups |= _by_weak_sign(sign, alike, rows)
        else:
            groups[sign] += alike
    return groups


def _short_sign(one: Finding) -> Sign | None:
    """The sign of a failure; that of an error without what was unusual about the reply."""
    return one.sign[:OF_AN_ERROR] if one.sign and one.sign[0] == "error" else one.sign


def _unusual(one: Finding) -> Sign:
    """What was unusual about the reply on which the loop raised; empty if the sign is not an error."""
    return one.sign[OF_AN_ERROR:] if one.sign and one.sign[0] == "error" else ()


def _kind(reason: str) -> str:
    """The kind of a fault of the driver or of looptck: the message before the details."""
    return re.sub(r"\d+", "0", ":".join(reason.split(":")[:2]))


def _dress(one: Finding) -> str:
    """Wire, and plain or stream: the part of a cell that one reader in the loop reads."""
    return one.result.cell.rpartition("/")[0]


class _Sets:
    """Disjoint sets of names (union-find)."""

    def __init__(self) -> None:
        self._leaders: dict[Key, Key] = {}

    def leader(self, name: Key) -> Key:
        """The representative of the set that contains this name."""
        while self._leaders.setdefault(name, name) != name:
            name = self._leaders[name]
        return name

    def join(self, names: Iterable[Key]) -> None:
        """Join the sets of these names; the first name's leader becomes the leader."""
        first, *others = names
        for other in others:
            self._leaders[self.leader(other)] = self.leader(first)


def _by_run(findings: Sequence[Finding]) -> dict[Key, list[Finding]]:
    """Group failures without a sign by shared requirement or run, the only clues that they have."""
    sets = _Sets()
    for one in findings:
        sets.join([("row", one.result.requirement), *(("run", run) for run in one.runs)])
    groups: dict[Key, list[Finding]] = defaultdict(list)
    for one in findings:
        groups["row", *sets.leader(("row", one.result.requirement))].append(one)
    return groups


def _by_weak_sign(sign: Sign, findings: Sequence[Finding], rows: Mapping[str, Requirement]) -> dict[Key, list[Finding]]:
    """Group failures with one weak sign."""
    naming = {id(one) for one in scripted([one for one in findings if _tells(one, rows)])}

    def names(one: Finding) -> bool:
        return id(one) in naming

    def is_ordinary(one: Finding) -> bool:
        return names(one) and rows[one.result.requirement].impact in BASIC and not _unusual(one)

    groups: dict[Key, list[Finding]] = defaultdict(list)
    ordinary = {_dress(one) for one in findings if is_ordinary(one)} | _shared_by_many(sign, filter(names, findings))
    rare = [one for one in findings if _dress(one) not in ordinary]
    groups[sign] += [one for one in findings if _dress(one) in ordinary]
    sets = _Sets()
    for one in filter(names, rare):
        sets.join([("row", one.result.requirement), *_company(one)])
    named = [one for one in rare if names(one)]
    for one in named:
        groups[*sign, *sets.leader(("row", one.result.requirement))].append(one)
    for one in rare:
        if not names(one):
            companion = next((other for other in named if _goes_with(one, other)), None)
            row = (companion or one).result.requirement
            groups[*sign, *(sets.leader(("row", row)) if companion else ("alone", row))].append(one)
    return {key: group for key, group in groups.items() if group}


def scripted(findings: Sequence[Finding]) -> Sequence[Finding]:
    """Those of scripted cases, if there are any: a recording has much at once that a loop may not read."""
    return [one for one in findings if played_scenario(one.result.case) is None] or findings


def _tells(one: Finding, rows: Mapping[str, Requirement]) -> bool:
    """Whether a failure is of a row that may name a cause."""
    return one.result.verdict == "fail" and not rows[one.result.requirement].general


def _company(one: Finding) -> list[Key]:
    """What a failure may share with those of other requirements: runs, and on its wire what was unusual."""
    unusual = [("reply", _dress(one), *_unusual(one))] if _unusual(one) else []
    return [*(("run", run) for run in one.runs), *unusual]


def _goes_with(one: Finding, named: Finding) -> bool:
    """Whether a failure that cannot name a cause belongs to one that can."""
    return bool({*one.runs} & {*named.runs}) or (_dress(one), _unusual(one)) == (_dress(named), _unusual(named))


def _shared_by_many(sign: Sign, named: Iterable[Finding]) -> set[str]:
    """The dresses in which so many requirements fail with the same meaningful error that it is one fault."""
    if sign[0] != "error" or not re.search(r"\w{3}", sign[-1]):
        return set()
    found: dict[str, set[str]] = defaultdict(set)
    for one in named:
        found[_dress(one)].add(one.result.requirement)
    return {dress for dress, ids in found.items() if len(ids) > MOST_ROWS}
