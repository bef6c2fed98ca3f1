"""Comparison of two runs: verdicts by requirement and by case, traits, and differences between the runs themselves.

Verdicts are compared case by case: the worst verdict of a requirement would hide a case that passed before if another
case fails in both runs. ``not-applicable`` counts as unjudged: a check that becomes not applicable is "gone", and one
that is not applicable in both runs is not compared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal

from looptck.catalogue.requirements import IMPACTS, LEVELS, Requirement, catalogue
from looptck.catalogue.traits import Answer, traits
from looptck.report.results import Results
from looptck.values.frozen import dataclass
from looptck.values.verdicts import AGAINST, Result, Verdict, counted, worst

Change = Literal["broken", "fixed", "other", "gone", "new", "cases", "same", "not-applicable"]
"""``cases``: the requirement has the same verdict in both runs, but single cases differ."""
_WRONG = AGAINST | {"error"}
_UNJUDGED: frozenset[Verdict | None] = frozenset({None, "not-applicable"})
SILENT: frozenset[Change] = frozenset({"same", "not-applicable"})
"""The changes that do not count as a difference."""


@dataclass(frozen=True, slots=True)
class Played:
    """A case of a requirement in a cell, with its verdict in each run; None: it was not played."""

    case: str
    a: Verdict | None
    b: Verdict | None
    change: Change


@dataclass(frozen=True, slots=True)
class Judged:
    """A requirement in a cell, with the worst verdict of its cases in each run; None: there is no verdict."""

    requirement: str
    profile: str
    level: str
    impact: str | None
    cell: str
    a: Verdict | None
    b: Verdict | None
    change: Change
    cases: tuple[Played, ...]

    def serializable(self, *, everything: bool = False) -> dict[str, Any]:
        """As JSON, with the cases that changed or with all of them."""
        cases = [asdict(one) for one in self.cases if everything or one.change not in SILENT]
        return asdict(self) | {"cases": cases}


@dataclass(frozen=True, slots=True)
class Asked:
    """A trait in a cell, with the answer in each run; None: it was not asked."""

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
        """Whether the runs differ in a verdict or an answer."""
        changes = {one.change for one in self.requirements} | {one.change for one in self.traits}
        return bool(changes - SILENT)

    @property
    def shared(self) -> set[str]:
        """The cells that both runs have."""
        return self.a.cells & self.b.cells

    def alone(self, side: str) -> list[str]:
        """The cells that one run has and the other has not."""
        own, other = (self.a, self.b) if side == "a" else (self.b, self.a)
        return sorted(own.cells - other.cells)

    @property
    def warnings(self) -> list[str]:
        """Differences between the runs that may explain different results of equal implementations, as messages."""
        return [*_cut_short(self.a, self.b), *_kits(self.a, self.b), *_selections(self.a, self.b)]

    def serializable(self, *, everything: bool = False) -> dict[str, Any]:
        """As ``--json`` writes it; ``fixtures/compare.schema.json`` is its schema."""
        shown = [one for one in self.requirements if everything or one.change not in SILENT]
        return {
            "a": _described(self.a),
            "b": _described(self.b),
            "warnings": self.warnings,
            "requirements": [one.serializable(everything=everything) for one in shown],
            "traits": [asdict(one) for one in self.traits if everything or one.change not in SILENT],
        }


def comparison(a: Results, b: Results) -> Comparison:
    """Compare two runs; traits only if both runs recorded them."""
    asked = _asked(a.traits, b.traits) if a.traits is not None and b.traits is not None else ()
    return Comparison(a, b, tuple(_judged(a.results, b.results)), tuple(asked))


# -- verdicts ---------------------------------------------------------------------------------------------------------

Place = tuple[str, str]
"""A requirement and a cell."""


def _judged(a: Sequence[Result], b: Sequence[Result]) -> list[Judged]:
    """All requirements in all cells, ordered by level, then by impact, then as in the catalogue."""
    known = {row.id: (place, row) for place, row in enumerate(catalogue())}
    sides = _by_case(a), _by_case(b)
    about = {(result.requirement, result.cell): result for result in (*a, *b)}
    rows = [
        _row(about[place], _impact(known.get(place[0])), sides[0].get(place, {}), sides[1].get(place, {}))
        for place in about
        if place in sides[0] or place in sides[1]
    ]

    def order(one: Judged) -> tuple[int, int, int, str]:
        impact = IMPACTS.index(one.impact) if one.impact else len(IMPACTS)
        place = known[one.requirement][0] if one.requirement in known else len(known)
        return LEVELS.index(one.level), impact, place, one.requirement

    return sorted(rows, key=order)


def _by_case(results: Iterable[Result]) -> dict[Place, dict[str, Verdict]]:
    """The verdict of each case: the worst if a run has several."""
    by: dict[Place, dict[str, list[Result]]] = defaultdict(lambda: defaultdict(list))
    for result in results:
        if result.verdict != "divergence":
            by[result.requirement, result.cell][result.case].append(result)
    return {place: {case: worst(of_one) for case, of_one in cases.items()} for place, cases in by.items()}


def _row(about: Result, impact: str | None, a: Mapping[str, Verdict], b: Mapping[str, Verdict]) -> Judged:
    cases = [Played(case, a.get(case), b.get(case), _changed(a.get(case), b.get(case))) for case in {**a, **b}]
    in_all = _worst(a.values()), _worst(b.values())
    return Judged(
        about.requirement, about.profile, about.level, impact, about.cell, *in_all, _in_sum(cases, *in_all),
        tuple(cases),
    )  # fmt: skip


def _in_sum(cases: Sequence[Played], a: Verdict | None, b: Verdict | None) -> Change:
    """The change of a requirement, from the cases that both runs judged, else from the presence of any verdict."""
    both = [one for one in cases if one.a not in _UNJUDGED and one.b not in _UNJUDGED]
    if not both:
        return _changed(a, b)
    change = _changed(_worst(one.a for one in both), _worst(one.b for one in both))
    return "cases" if change == "same" and any(one.change not in SILENT for one in cases) else change


def _worst(verdicts: Iterable[Verdict | None]) -> Verdict | None:
    there = [verdict for verdict in verdicts if verdict is not None]
    return worst(Result("", "", "", "", "", verdict) for verdict in there) if there else None


def _impact(known: tuple[int, Requirement] | None) -> str | None:
    return known[1].impact if known else None


def _changed(a: Verdict | None, b: Verdict | None) -> Change:
    if a in _UNJUDGED or b in _UNJUDGED:
        if a in _UNJUDGED and b in _UNJUDGED:
            return "not-applicable"
        return "new" if a in _UNJUDGED else "gone"
    if a == b:
        return "same"
    if a == "pass" and b in _WRONG:
        return "broken"
    return "fixed" if a in _WRONG and b == "pass" else "other"


# -- traits -----------------------------------------------------------------------------------------------------------


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
    side_a, side_b = (None if one is None else {"answer": one.answer, "detail": one.detail} for one in (a, b))
    return Asked(*key, side_a, side_b, change)


# -- the runs ---------------------------------------------------------------------------------------------------------


def _described(run: Results) -> dict[str, Any]:
    declared = run.implementation
    return {
        "file": str(run.path),
        "looptck": run.looptck,
        "content": run.content,
        "cut_short": None if run.unfinished is None else run.unfinished > 0,
        "driver": run.driver,
        "name": declared["name"],
        "version": declared["version"],
        "language": declared["language"],
        "summary": counted(run.results),
        "traits": None if run.traits is None else len(run.traits),
    }


def _cut_short(a: Results, b: Results) -> Iterable[str]:
    """Warnings of a run that was, or may have been, interrupted: results that only the other run has mean nothing."""
    for side, run, other, of in (("A", a, b, "B"), ("B", b, a, "A")):
        if run.unfinished:
            yield (
                f"{side} was interrupted: {run.unfinished} of the chosen checks and questions were not judged; "
                f"results that only {of} has may simply not have been played in {side}"
            )
        elif run.unfinished is None and (lacks := _lacks(run, other)):
            yield (
                f"{side}, of looptck {run.looptck}, does not say whether it was interrupted, and lacks {lacks} checks "
                f"that {of} has"
            )


def _lacks(run: Results, other: Results) -> int:
    """The number of checks that only the other run has."""
    own, others = ({(one.requirement, one.cell, one.case) for one in side.results} for side in (run, other))
    return len(others - own)


def _kits(a: Results, b: Results) -> Iterable[str]:
    """The warning that the runs were judged by different versions or contents of looptck."""
    if a.looptck != b.looptck:
        yield f"A was judged by looptck {a.looptck}, B by looptck {b.looptck}: looptck may be the cause of differences"
    elif a.content != b.content:
        contents = " and ".join(one or "unknown" for one in (a.content, b.content))
        yield (
            f"both were judged by looptck {a.looptck}, but with different content ({contents}): "
            "looptck may be the cause of differences"
        )


def _selections(a: Results, b: Results) -> Iterable[str]:
    """The warning that the runs had different selections."""
    if a.selection is not None and b.selection is not None:
        for name, of_a in a.selection.items():
            of_b = b.selection.get(name)
            if of_a != of_b:
                nothing = "the default" if name in {"options", "profiles"} else "all"
                asked = [_words(side) or nothing for side in (of_a, of_b)]
                yield f"the runs had different {name}: {asked[0]} in A, {asked[1]} in B"
        return
    profiles = [sorted({one.profile for one in run.results}) for run in (a, b)]
    if profiles[0] != profiles[1]:
        yield f"the runs judged different profiles: {_words(profiles[0])} in A, {_words(profiles[1])} in B"


def _words(asked: str | Sequence[str] | None) -> str:
    """The value of one selector as text; empty if it selects everything."""
    return asked if isinstance(asked, str) else ", ".join(asked or ())
