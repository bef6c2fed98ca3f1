"""Two runs compared: verdicts by requirement and by case, traits, and what of the runs themselves makes them differ.

Verdicts are compared case by case: the worst verdict of a requirement would hide a case that passed before, wherever
another case of it fails in both runs. ``not-applicable`` is no judgement: what has become so is gone, and what is so in
both runs is not compared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from looptck.catalogue.requirements import IMPACTS, LEVELS, Requirement, catalogue
from looptck.catalogue.traits import Answer, traits
from looptck.report.results import Results
from looptck.values.verdicts import AGAINST, Result, Verdict, counted, worst

Change = Literal["broken", "fixed", "other", "gone", "new", "cases", "same", "not-applicable"]
"""``cases``, of a requirement: what both runs played comes to the same, and single cases do not."""
_WRONG = AGAINST | {"error"}
_UNJUDGED: frozenset[Verdict | None] = frozenset({None, "not-applicable"})
SILENT: frozenset[Change] = frozenset({"same", "not-applicable"})
"""What is no difference."""


@dataclass(frozen=True, slots=True)
class Played:
    """A case of a requirement in a cell; None: it was not played."""

    case: str
    a: Verdict | None
    b: Verdict | None
    change: Change


@dataclass(frozen=True, slots=True)
class Judged:
    """A requirement in a cell, with the worst verdict of its cases; None: there is no verdict."""

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
        """What makes the runs differ though the implementations may not, in words."""
        return [*_cut_short(self.a, self.b), *_kits(self.a, self.b), *_selections(self.a, self.b)]

    def serializable(self, *, everything: bool = False) -> dict[str, Any]:
        """As ``--json`` writes it; ``fixtures/compare.schema.json`` is its schema."""
        told = [one for one in self.requirements if everything or one.change not in SILENT]
        return {
            "a": _described(self.a),
            "b": _described(self.b),
            "warnings": self.warnings,
            "requirements": [one.serializable(everything=everything) for one in told],
            "traits": [asdict(one) for one in self.traits if everything or one.change not in SILENT],
        }


def comparison(a: Results, b: Results) -> Comparison:
    """What is the same and what is not. Where one of them knows no traits they are not compared."""
    asked = _asked(a.traits, b.traits) if a.traits is not None and b.traits is not None else ()
    return Comparison(a, b, tuple(_judged(a.results, b.results)), tuple(asked))


# -- verdicts ---------------------------------------------------------------------------------------------------------

Place = tuple[str, str]
"""A requirement and a cell."""


def _judged(a: Sequence[Result], b: Sequence[Result]) -> list[Judged]:
    """All requirements in all cells: by level, then by what a user suffers, then as the catalogue has them."""
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
    """The verdict of each case, the worst where a run had several."""
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
    """What became of a requirement: of what both runs have judged, else whether there is any verdict."""
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
    told_a, told_b = (None if one is None else {"answer": one.answer, "detail": one.detail} for one in (a, b))
    return Asked(*key, told_a, told_b, change)


# -- the runs ---------------------------------------------------------------------------------------------------------


def _described(run: Results) -> dict[str, Any]:
    told = run.implementation
    return {
        "file": str(run.path),
        "looptck": run.looptck,
        "content": run.content,
        "cut_short": None if run.unfinished is None else run.unfinished > 0,
        "driver": run.driver,
        "name": told["name"],
        "version": told["version"],
        "language": told["language"],
        "summary": counted(run.results),
        "traits": None if run.traits is None else len(run.traits),
    }


def _cut_short(a: Results, b: Results) -> Iterable[str]:
    """That a run did not come to its end, or may not have: what the other one alone has says nothing then."""
    for side, run, other, of in (("A", a, b, "B"), ("B", b, a, "A")):
        if run.unfinished:
            yield (
                f"{side} was cut short: {run.unfinished} of the chosen checks and questions were never judged; "
                f"what {of} alone has may only not have been played"
            )
        elif run.unfinished is None and (lacks := _lacks(run, other)):
            yield (
                f"{side}, of looptck {run.looptck}, does not say whether it was cut short, and lacks {lacks} checks "
                f"that {of} has"
            )


def _lacks(run: Results, other: Results) -> int:
    """How many checks the other run has, and this one has not."""
    own, others = ({(one.requirement, one.cell, one.case) for one in side.results} for side in (run, other))
    return len(others - own)


def _kits(a: Results, b: Results) -> Iterable[str]:
    """That the judge was another one."""
    if a.looptck != b.looptck:
        yield f"A was judged by looptck {a.looptck}, B by looptck {b.looptck}: what differs may be the kit's doing"
    elif a.content != b.content:
        told = " and ".join(one or "one that it does not tell" for one in (a.content, b.content))
        yield (
            f"both were judged by looptck {a.looptck}, and by different content of it ({told}): "
            "what differs may be the kit's doing"
        )


def _selections(a: Results, b: Results) -> Iterable[str]:
    """That something else was asked for."""
    if a.selection is not None and b.selection is not None:
        for name, of_a in a.selection.items():
            of_b = b.selection.get(name)
            if of_a != of_b:
                nothing = "the usual ones" if name in {"options", "profiles"} else "all"
                told = [_words(side) or nothing for side in (of_a, of_b)]
                yield f"the runs were asked for different {name}: {told[0]} in A, {told[1]} in B"
        return
    profiles = [sorted({one.profile for one in run.results}) for run in (a, b)]
    if profiles[0] != profiles[1]:
        yield f"the runs judged different profiles: {_words(profiles[0])} in A, {_words(profiles[1])} in B"


def _words(asked: str | Sequence[str] | None) -> str:
    """What was asked for under one name; nothing where that is everything."""
    return asked if isinstance(asked, str) else ", ".join(asked or ())
