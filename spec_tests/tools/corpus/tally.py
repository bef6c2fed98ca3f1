"""Counts by group, their reasons, and their output."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

COLUMNS = {
    "replies": {
        "replies": "replies with status 200 whose body is there",
        "read": "decoded by the reference",
        "read by kit": "read by the kit's reader",
        "same": "both understood the same",
        "next": "turns after which the reference asks again",
        "next ok": "the judge accepts that request",
        "errors": "replies with another status",
        "told": "the reference raises what the provider said",
    },
    "requests": {
        "answered": "requests that were answered with 200, or whose reply is not there",
        "accepted": "the judge accepts them, believing what they say of earlier requests",
        "declared": "of these: those of compatible servers for a reason that a dialect declares",
        "leaning": "of these: those that a service which has answered nothing before them would refuse",
        "refused": "it refuses them",
        "400": "requests that the service refused for what is in them",
        "both": "the judge refuses them too",
        "only it": "it does not",
        "other": "requests that the service refused for another cause, such as the key, or failed at",
    },
}
"""The columns of two tables: headings and meanings."""


@dataclass(slots=True)
class Tally:
    """The counts of a corpus."""

    examples: int = 0
    """The number of records to name for each reason."""
    counts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """Counts by group, such as ``openai-chat official plain``, and column."""
    skipped: Counter[str] = field(default_factory=Counter)
    """The number of records of APIs without a wire, by API."""
    reasons: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """Counts by event, reason and group."""
    named: dict[tuple[str, str, str], list[str]] = field(default_factory=lambda: defaultdict(list))
    """The first ids, by the same keys."""

    def count(self, group: str, *columns: str) -> None:
        """Add one in these columns."""
        self.counts[group].update(columns)

    def because(self, what: str, reason: str, group: str, id: str) -> None:
        """Add one for this event and reason."""
        key = what, reason, group
        self.reasons[key] += 1
        if len(self.named[key]) < self.examples:
            self.named[key].append(id)

    def lines(self) -> Iterator[str]:
        """The lines of the output."""
        for table, columns in COLUMNS.items():
            rows = [[group, *(str(self.counts[group][name]) for name in columns)] for group in sorted(self.counts)]
            total = ["all", *(str(sum(counts[name] for counts in self.counts.values())) for name in columns)]
            yield from _table([[table, *columns], *rows, total])
            yield from (f"  {name}: {meaning}" for name, meaning in columns.items())
            yield ""
        yield from (f"{api}: {number} skipped" for api, number in sorted(self.skipped.items()))
        yield from self._reasons()

    def _reasons(self) -> Iterator[str]:
        last = ""
        for what, reason, group in sorted(self.reasons):
            if what != last:
                yield what
                last = what
            key = what, reason, group
            ids = f" [{' '.join(self.named[key])}]" if self.named[key] else ""
            yield f"  {self.reasons[key]:5}  {reason}  ({group}){ids}"


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for label, *figures in rows:
        cells = [f"{figure:>{width}}" for figure, width in zip(figures, widths[1:], strict=True)]
        yield "  ".join([f"{label:<{widths[0]}}", *cells])
