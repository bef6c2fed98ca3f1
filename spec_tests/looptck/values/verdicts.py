"""Verdicts: the six words, the errors that lead to them, and the results of a run.

A check that did not run is never counted as passed: only one place gives ``pass``, to a check that completed after its
deciding event.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from looptck.values.printable import printable, steady

Verdict = Literal["pass", "fail", "not-reached", "not-applicable", "error", "divergence"]

MEANINGS: dict[Verdict, str] = {
    "pass": "the deciding event happened and was right",
    "fail": "the deciding event happened and was wrong, or the run never ended",
    "not-reached": "the run ended before the deciding event, for another reason; counts against the implementation",
    "not-applicable": "the loop need not do what is checked, mostly a capability that it declares absent; not counted",
    "error": "a fault of the kit or of the driver; says nothing about the implementation",
    "divergence": "behaviour that the documents leave open or disagree on; recorded, never judged",
}
AGAINST: frozenset[Verdict] = frozenset({"fail", "not-reached"})
"""The verdicts that count against an implementation."""
WORST_FIRST: tuple[Verdict, ...] = ("error", "fail", "not-reached", "pass", "not-applicable", "divergence")


class NotReached(Exception):
    """The deciding event of a check did not happen."""


class NotApplicable(Exception):
    """The check needs something optional: a capability that is declared absent, or a choice of the documents."""


_UNDECLARED = "the driver declares no capability", "the driver does not claim"


def no_capability(name: str, why: str = "") -> str:
    """Why a check is not for a loop whose driver does not declare a capability; ``why`` follows."""
    return f"{_UNDECLARED[0]} `{name}`{why}"


def no_claim(profile: str) -> str:
    """Why a check is not for a loop whose driver does not claim a profile."""
    return f"{_UNDECLARED[1]} {profile}"


def is_undeclared(reason: str) -> bool:
    """Whether a check is not applicable by what the driver declares, whatever the loop does."""
    return reason.startswith(_UNDECLARED)


@dataclass(slots=True)
class Result:
    """One verdict: of one requirement, in one cell, by one case."""

    requirement: str
    profile: str
    level: str
    cell: str
    case: str
    verdict: Verdict
    reason: str = ""
    place: int = field(default=0, compare=False)
    """The place of the check among those that were chosen, from 1 on; it orders the results."""

    def __post_init__(self) -> None:
        self.reason = steady(printable(self.reason))

    def serializable(self) -> dict[str, Any]:
        """As a JSON object, which says the place by its own."""
        return {name: value for name, value in asdict(self).items() if name != "place"}


def worst(results: Iterable[Result]) -> Verdict:
    """The common verdict of several cases: the worst one.

    Raises:
        ValueError: there are no results.
    """
    verdicts = {result.verdict for result in results}
    for verdict in WORST_FIRST:
        if verdict in verdicts:
            return verdict
    raise ValueError("no results, no verdict")


def counted(results: Iterable[Result]) -> dict[Verdict, int]:
    """The count of each verdict, including those with none."""
    counts = Counter(result.verdict for result in results)
    return {verdict: counts[verdict] for verdict in MEANINGS}
