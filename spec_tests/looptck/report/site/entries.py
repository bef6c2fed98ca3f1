"""Entries: the implementations of a site, each at one version, with a standing for every requirement."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any, Literal

from looptck.catalogue.families import Family
from looptck.catalogue.requirements import IMPACTS, Requirement
from looptck.report.results import Results
from looptck.values.frozen import dataclass
from looptck.values.verdicts import AGAINST

State = Literal["fail", "disputed", "not-reached", "error", "pass", "not-applicable", "not-played"]
"""The worst verdict of a requirement over all cells; disputed: each failure is known to be looptck's own fault."""
JUDGED: tuple[State, ...] = ("fail", "disputed", "not-reached", "pass")
"""The states with a verdict on the implementation."""
OURS = "Ours"
"""How the reason of a known failure begins that looptck has to mend."""
MEANINGS: Mapping[State, str] = {
    "fail": "fails in at least one cell",
    "disputed": "fails, and the fault is looptck's",
    "not-reached": "the run ended before the deciding event",
    "error": "a fault of looptck or of the driver",
    "pass": "passes in every cell in which it applies",
    "not-applicable": "need not do it: a capability is declared absent, or no wire of it can express it",
    "not-played": "no check of it was played",
}
WORDLESS = "not classified"
"""The impact of a requirement whose row has none."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What a requirement has come to in one implementation."""

    state: State
    verdicts: Mapping[str, int] = field(default_factory=dict)
    cells: Sequence[str] = ()
    """The cells with a verdict against the implementation."""
    known: Sequence[str] = ()
    """The reasons of the known failures that cover such verdicts."""
    reason: str = ""
    """The reason of the first verdict against the implementation, else of the first verdict."""


UNPLAYED = Standing("not-played")


@dataclass(frozen=True, slots=True)
class Tally:
    """A family in one implementation: how many of its requirements were judged, and those that fail, by impact."""

    judged: int
    failing: Mapping[str, int]
    disputed: int
    errors: int = 0
    """How many have no verdict, for a fault of looptck or of the driver."""

    @property
    def words(self) -> str:
        """As a sentence, for those who do not see colours."""
        found = [f"{count} {impact}" for impact, count in self.failing.items()]
        found += [f"{self.disputed} disputed"] if self.disputed else []
        words = f"{', '.join(found) or 'nothing fails'} of {self.judged} judged" if self.judged else "not judged"
        return f"{words}, {self.errors} in error" if self.errors else words


@dataclass(eq=False)
class Entry:
    """An implementation at one version; one that could not be installed or run has no results."""

    target: str
    """What it is called where it is kept."""
    data: Mapping[str, Any] | None = None
    """The JSON of its run."""
    why_not: str | None = None
    """Why there are no results."""
    kind: str = "loop"
    """loop, server or program."""
    seconds: float | None = None
    notes: str = ""
    """What its driver chooses, as Markdown."""
    reports: Mapping[str, str] = field(default_factory=dict)
    """Reports of its faults, ready to be filed: Markdown by the name of its file."""

    @cached_property
    def _standings(self) -> Mapping[str, Standing]:
        return {} if self.data is None else _standings(self.data["results"])

    @property
    def implementation(self) -> Mapping[str, Any]:
        """What its driver declares."""
        return self.data["implementation"] if self.data is not None else {}

    @property
    def name(self) -> str:
        return str(self.implementation.get("name") or self.target)

    @property
    def version(self) -> str:
        return str(self.implementation.get("version") or "")

    @property
    def language(self) -> str:
        return str(self.implementation.get("language") or "")

    @property
    def slug(self) -> str:
        """Its name in the addresses of pages."""
        return slug(f"{self.target}-{self.version}" if self.version else self.target)

    @property
    def results(self) -> Results | None:
        """The results, as comparisons read them."""
        return None if self.data is None else Results.of(self.data)

    @property
    def left(self) -> int:
        """How many checks and questions have no verdict and no answer because the run was cut short."""
        return 0 if self.data is None else sum(self.data.get("unfinished", {}).values())

    @property
    def has_verdicts(self) -> bool:
        """Whether anything was judged at all."""
        return any(one.state in JUDGED for one in self._standings.values())

    @property
    def is_judged(self) -> bool:
        """Whether nothing is without a verdict: the run was not cut short, and there is no fault but the loop's."""
        if self.data is None or not self.has_verdicts:
            return False
        return not (self.left or self.data["summary"]["error"] or self.data["driver_faults"])

    @property
    def causes(self) -> Sequence[Mapping[str, Any]]:
        """The causes of its failures, the worst first."""
        return () if self.data is None else self.data.get("causes", ())

    def standing(self, id: str) -> Standing:
        """What a requirement has come to."""
        return self._standings.get(id, UNPLAYED)

    def tally(self, family: Family) -> Tally:
        """What a family has come to."""
        failing: Counter[str] = Counter()
        states: Counter[State] = Counter()
        for row in family.requirements:
            state = self.standing(row.id).state
            states[state] += 1
            if state in {"fail", "not-reached"}:
                failing[row.impact or WORDLESS] += 1
        judged = sum(states[state] for state in JUDGED)
        by_impact = {one: failing[one] for one in (*IMPACTS, WORDLESS) if failing[one]}
        return Tally(judged, by_impact, states["disputed"], states["error"])

    def known_of(self, cause: Mapping[str, Any]) -> list[str]:
        """The reasons for which the failures of a cause are known: those of the requirement that it is named after."""
        results = self.data["results"] if self.data is not None else ()
        known = [results[at] for at in cause["results"] if "known" in results[at]]
        named = [one for one in known if one["requirement"] == cause["requirement"]]
        return [*dict.fromkeys(one["known"] for one in named or known)]

    @cached_property
    def answers(self) -> Mapping[str, Mapping[str, list[str]]]:
        """The cells in which each trait has each answer."""
        found: dict[str, dict[str, list[str]]] = {}
        for one in self.data.get("traits", ()) if self.data is not None else ():
            found.setdefault(one["trait"], {}).setdefault(one["answer"], []).append(one["cell"])
        return found


def slug(text: str) -> str:
    """A text as part of an address."""
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-.")


def _standings(results: Iterable[Mapping[str, Any]]) -> dict[str, Standing]:
    by_requirement: dict[str, list[Mapping[str, Any]]] = {}
    for one in results:
        by_requirement.setdefault(one["requirement"], []).append(one)
    return {id: _standing(alike) for id, alike in by_requirement.items()}


def _standing(results: Sequence[Mapping[str, Any]]) -> Standing:
    verdicts = Counter(one["verdict"] for one in results if one["verdict"] != "divergence")
    against = [one for one in results if one["verdict"] in AGAINST]
    known = [*dict.fromkeys(one["known"] for one in against if "known" in one)]
    first = next(iter([*against, *results]))
    cells = [*dict.fromkeys(one["cell"] for one in against)]
    return Standing(_state(verdicts, against), verdicts, cells, known, first["reason"])


def _state(verdicts: Mapping[str, int], against: Sequence[Mapping[str, Any]]) -> State:
    if against and all(one.get("known", "").startswith(OURS) for one in against):
        return "disputed"
    order: tuple[State, ...] = ("fail", "not-reached", "error", "pass", "not-applicable")
    return next((state for state in order if verdicts.get(state)), "not-played")


@dataclass(frozen=True, slots=True)
class Shortest:
    """The shortest receipt of a requirement's failure."""

    entry: Entry
    cause: Mapping[str, Any]


def shortest(entries: Iterable[Entry], row: Requirement) -> Shortest | None:
    """The shortest receipt, in lines, of a cause that is named after the requirement; None: there is none."""
    found = (
        Shortest(entry, cause)
        for entry in entries
        for cause in entry.causes
        if cause.get("receipt") and cause["requirement"] == row.id
    )
    return min(found, key=lambda one: sum(1 + len(step["lines"]) for step in one.cause["receipt"]), default=None)
