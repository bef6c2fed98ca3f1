"""The mutants of the reference: every site of its modules, examined by the suite first and then by its unit tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from looptck.commands.kill.apart import apart
from looptck.suite.options import CouldNotRun
from tools.mutation.by_suite import Suite
from tools.mutation.by_tests import ROOT, Tests
from tools.mutation.covering import Covered, remembered
from tools.mutation.importing import change, forget, full_name
from tools.mutation.sites import Site, difference, mutated, sites
from tools.mutation.trials import Kill

PACKAGE = "looptck_reference"
FOLDER = ROOT / "reference" / PACKAGE
TESTS = ("spec_tests/meta/reference",)
FIRST = 250
"""The checks that come before the unit tests, each of another requirement as far as there are so many."""
MOST = 500
"""The checks that a mutant is played; more of them are the same requirements again, by other cases in other cells."""
LEARNING = 3600.0
"""Seconds that one pass over all checks, or all tests, may take."""

Gain = TypeVar("Gain")


def every_site(modules: Sequence[str] = (), text: str = "") -> list[Site]:
    """The sites of the modules at these paths, of all where none is given, whose names hold a text.

    Raises:
        CouldNotRun: there is none.
    """
    found = [
        site
        for module, source in _sources()
        if not modules or module in modules
        for site in sites(module, source)
        if text in site.name
    ]
    if not found:
        raise CouldNotRun("nothing was selected: no module of these names, or no site with this text")
    return found


def _sources() -> Iterator[tuple[str, str]]:
    for path in sorted(FOLDER.rglob("*.py")):
        yield path.relative_to(FOLDER).as_posix(), path.read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Reference:
    """What examines a mutant of the reference."""

    suite: Suite
    checks: Covered
    tests: Tests

    @classmethod
    def learnt(cls, cells: tuple[str, ...], kept: Path | None = None) -> Reference:
        """With what one pass over the suite, in these cells, and one over the unit tests have shown.

        The first takes minutes; ``kept`` is a file that spares it as long as reference and suite are the same.

        Raises:
            CouldNotRun: a check or a test fails without a mutant.
        """
        suite = Suite.of(cells)
        sources = [source for _, source in _sources()]
        checks = remembered(kept, [*sources, *suite.names], lambda: aside(lambda: suite.covered(FOLDER)))
        return cls(suite, checks, aside(lambda: Tests.watched(TESTS, FOLDER)))

    def examine(self, site: Site) -> Kill | None:
        """What finds this mutant out; to be asked in a process that ends with it."""
        tree = mutated((FOLDER / site.module).read_text(encoding="utf-8"), site)
        change({full_name(PACKAGE, site.module): tree}, [PACKAGE])
        checks = self.suite.order(self.checks.of(site), self.checks.seconds)
        examinations: tuple[Callable[[], Kill | None], ...] = (
            lambda: self.suite.killed(checks[:FIRST]),
            lambda: self.tests.killed(self.tests.covered.of(site)),
            lambda: self.suite.killed(checks[FIRST:MOST]),
        )
        for examined in examinations:
            forget([PACKAGE])
            if killed := examined():
                return killed
        return None


def aside(work: Callable[[], Gain]) -> Gain:
    """The gain of work that is done in a process of its own, in which the reference is imported anew.

    Raises:
        CouldNotRun: it has none.
    """

    def anew(work: Callable[[], Gain]) -> Gain:
        forget([PACKAGE])
        return work()

    (done,) = apart(anew, [work], workers=1, seconds=LEARNING)
    if done.value is None:
        raise CouldNotRun(done.trouble)
    return done.value


def shown(site: Site) -> list[str]:
    """Where a site is, from the top of the project, and what it changes."""
    path = FOLDER / site.module
    old, new = difference(path.read_text(encoding="utf-8"), site)
    return [f"    {path.relative_to(ROOT).as_posix()}:{site.lines.start}", f"    - {old}", f"    + {new}"]
