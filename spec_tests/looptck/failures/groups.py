"""Groups: which failures of a run have one cause, by what went wrong first in the runs that they rest on.

1. Failures whose runs show one firm sign, such as a request that the service would refuse or a result that is left
   out, have one cause, on whatever wire and in whatever row.
2. What many a fault leads to is a weak sign: an error with its words, an answer where there was none, a tool that ran.
   A message such as ``Expecting value: line 1`` says nothing about where it came from. So:
   - where ordinary traffic fails with it, all that fails with it on the same wire (plain or stream) has one cause: a
     loop that raises on every request is one fault, and not a hundred;
   - else failures belong together that share a row, a run, or on one wire what was unusual about the reply that the
     loop had last: two rows that play the same rare lines and end in the same error are one fault, but an error on
     lines that end in CR is another one than the same error on a call without arguments;
   - where more than `MOST_ROWS` rows still stand apart with one error on one wire, it is one fault after all: no
     loop has that many with the same words. Words that say nothing (``KeyError: …``) do not count as such;
   - rows about whole conversations name nothing. They go with a row that shares a run with them, or the sign, the wire
     and what was unusual; where there is none each has its own cause.
3. Where the events of a run show nothing wrong, what fails on it has one cause, and else each requirement has its own.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from looptck.catalogue.requirements import Requirement
from looptck.failures.signs import OF_AN_ERROR, WEAK, Sign
from looptck.values.printable import printable
from looptck.values.verdicts import Result

BASIC = frozenset({"unsafe", "broken"})
"""The impacts of faults in ordinary traffic, which break what is rarer too."""
MOST_ROWS = 6
"""The most rows of one wire and dress that stand apart with one error."""
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

    def __post_init__(self) -> None:
        self.text = printable(self.text)
        self.evidence = [printable(line) for line in self.evidence]


def grouped(findings: Sequence[Finding], rows: Mapping[str, Requirement]) -> dict[Key, list[Finding]]:
    """Failures by cause. A key begins with the kind of its sign; ``fault`` of a driver; ``row`` where there is none."""
    by_sign: dict[Sign | None, list[Finding]] = defaultdict(list)
    groups: dict[Key, list[Finding]] = defaultdict(list)
    for one in findings:
        if one.result.verdict == "error":
            groups["fault", _kind(one.result.reason)].append(one)
        else:
            by_sign[_what(one)].append(one)
    for sign, alike in by_sign.items():
        if sign is None:
            groups |= _by_run(alike)
        elif sign[0] in WEAK:
            groups |= _apart(sign, alike, rows)
        else:
            groups[sign] += alike
    return groups


def _what(one: Finding) -> Sign | None:
    """Its sign, of an error without what was unusual about the reply."""
    return one.sign[:OF_AN_ERROR] if one.sign and one.sign[0] == "error" else one.sign


def _unusual(one: Finding) -> Sign:
    """What was unusual about the reply on which the loop raised; nothing of what is no error."""
    return one.sign[OF_AN_ERROR:] if one.sign and one.sign[0] == "error" else ()


def _kind(reason: str) -> str:
    """What sort of fault of the driver or of the kit it was: the words before the details."""
    return re.sub(r"\d+", "0", ":".join(reason.split(":")[:2]))


def _dress(one: Finding) -> str:
    """Wire and plain or stream: what is read by one reader."""
    return one.result.cell.rpartition("/")[0]


class _Sets:
    """Names that belong together."""

    def __init__(self) -> None:
        self._leaders: dict[Key, Key] = {}

    def leader(self, name: Key) -> Key:
        """The name that stands for all that belong with this one."""
        while self._leaders.setdefault(name, name) != name:
            name = self._leaders[name]
        return name

    def join(self, names: Iterable[Key]) -> None:
        """These belong together: the first one's leader leads."""
        first, *others = names
        for other in others:
            self._leaders[self.leader(other)] = self.leader(first)


def _by_run(findings: Sequence[Finding]) -> dict[Key, list[Finding]]:
    """What shares a row or a run: neither has anything else by which to tell causes apart."""
    sets = _Sets()
    for one in findings:
        sets.join([("row", one.result.requirement), *(("run", run) for run in one.runs)])
    groups: dict[Key, list[Finding]] = defaultdict(list)
    for one in findings:
        groups["row", *sets.leader(("row", one.result.requirement))].append(one)
    return groups


def _apart(sign: Sign, findings: Sequence[Finding], rows: Mapping[str, Requirement]) -> dict[Key, list[Finding]]:
    """Failures with a weak sign."""

    def names(one: Finding) -> bool:
        return one.result.verdict == "fail" and not rows[one.result.requirement].general

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
            beside = next((other for other in named if _goes_with(one, other)), None)
            row = (beside or one).result.requirement
            groups[*sign, *(sets.leader(("row", row)) if beside else ("alone", row))].append(one)
    return {key: group for key, group in groups.items() if group}


def _company(one: Finding) -> list[Key]:
    """What it may share with failures of other rows: runs, and on its wire what was unusual about a reply."""
    unusual = [("reply", _dress(one), *_unusual(one))] if _unusual(one) else []
    return [*(("run", run) for run in one.runs), *unusual]


def _goes_with(one: Finding, named: Finding) -> bool:
    """Whether a failure that names nothing is seen with one that does."""
    return bool({*one.runs} & {*named.runs}) or (_dress(one), _unusual(one)) == (_dress(named), _unusual(named))


def _shared_by_many(sign: Sign, named: Iterable[Finding]) -> set[str]:
    """Where so many rows fail with the same telling error that it is one fault."""
    if sign[0] != "error" or not re.search(r"\w{3}", sign[-1]):
        return set()
    found: dict[str, set[str]] = defaultdict(set)
    for one in named:
        found[_dress(one)].add(one.result.requirement)
    return {dress for dress, ids in found.items() if len(ids) > MOST_ROWS}
