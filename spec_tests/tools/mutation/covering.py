"""Which checks and tests execute which lines of a package, learnt in one pass over all of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from time import monotonic

import coverage

from tools.mutation.sites import Site

PRICE = 100.0
"""How many places in a line of checks one second of a check is worth."""


@dataclass(frozen=True, slots=True)
class Covered:
    """What one pass has shown. Checks and tests are numbers, and sets of them the bits of a whole number."""

    seconds: Sequence[float]
    """What each of them took."""
    lines: Mapping[str, Mapping[int, int]]
    """By module and line, the set of those that execute it."""

    def of(self, site: Site) -> list[int]:
        """Those that may see a change; all of them, where it is made when the module is imported."""
        known = self.lines.get(site.module, {})
        taken = 0
        for line in site.lines:
            taken |= known.get(line, 0)
        if not site.runs:
            return sorted(range(len(self.seconds)), key=lambda number: not taken >> number & 1)
        return [number for number in range(len(self.seconds)) if taken >> number & 1]


def spread(numbers: Iterable[int], seconds: Sequence[float], kinds: Callable[[int], Sequence[Hashable]]) -> list[int]:
    """The quick ones first, and those of one kind apart from each other.

    ``kinds`` names the kinds of a check from the wide to the narrow, such as its requirement and its cell in it: the
    first check of each requirement comes before the second of any, and that one is of another cell.
    """
    ordered = sorted(numbers, key=lambda number: seconds[number])
    depth = len(kinds(ordered[0])) if ordered else 0
    for width in range(depth, 0, -1):
        seen: dict[tuple[Hashable, ...], int] = {}
        cost: dict[int, float] = {}
        for number in ordered:
            kind = tuple(kinds(number)[:width])
            seen[kind] = seen.get(kind, -1) + 1
            cost[number] = seen[kind] + seconds[number] * PRICE
        ordered.sort(key=cost.__getitem__)
    return ordered


@dataclass(slots=True)
class Watch:
    """Notes what is executed between two switches."""

    folder: Path
    """Of the package."""
    _coverage: coverage.Coverage = field(init=False)
    _began: float = 0.0
    _now: int = -1
    _seconds: dict[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._coverage = coverage.Coverage(data_file=None, config_file=False, include=[f"{self.folder}/*"])
        self._coverage.set_option("run:core", "ctrace")  # the newer one sees each line once, in one context
        self._coverage.start()

    def switch(self, number: int) -> None:
        """From here on, what is executed is this one's doing; -1: nobody's."""
        if self._now >= 0:
            self._seconds[self._now] = self._seconds.get(self._now, 0.0) + monotonic() - self._began
        self._now, self._began = number, monotonic()
        self._coverage.switch_context("" if number < 0 else str(number))

    def end(self, count: int) -> Covered:
        """What was executed by these many."""
        self.switch(-1)
        self._coverage.stop()
        data = self._coverage.get_data()
        lines: dict[str, dict[int, int]] = {}
        for file in data.measured_files():
            module = Path(file).relative_to(self.folder).as_posix()
            lines[module] = {
                line: sum(1 << int(context) for context in contexts if context)
                for line, contexts in data.contexts_by_lineno(file).items()
            }
        return Covered([self._seconds.get(number, 0.0) for number in range(count)], lines)


def remembered(file: Path | None, about: Iterable[str], learn: Callable[[], Covered]) -> Covered:
    """What is kept in a file, as long as what it is about is the same; else what is learnt, and then kept."""
    digest = sha256("\0".join(about).encode()).hexdigest()
    if file is not None and file.exists():
        kept = json.loads(file.read_text(encoding="utf-8"))
        if kept["digest"] == digest:
            lines = {
                module: {int(line): int(bits, 16) for line, bits in known.items()}
                for module, known in kept["lines"].items()
            }
            return Covered(kept["seconds"], lines)
    covered = learn()
    if file is not None:
        lines_as_text = {
            module: {line: f"{bits:x}" for line, bits in known.items()} for module, known in covered.lines.items()
        }
        kept = {"digest": digest, "seconds": covered.seconds, "lines": lines_as_text}
        file.write_text(json.dumps(kept), encoding="utf-8")
    return covered
