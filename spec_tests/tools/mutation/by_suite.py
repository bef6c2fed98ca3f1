"""What the suite says of a mutant of the reference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from looptck.bench.bench import Patience
from looptck.commands.kill.plan import NothingSelected, Planned, plan
from looptck.commands.kill.playing import play
from looptck.drivers import REFERENCE, SERVER, SOLUTIONS, DriverFault
from looptck.drivers.protocol import AGENT_LOOP, SERVER_LOOP
from looptck.suite.options import CouldNotRun, Options
from looptck.suite.selection import Selection
from looptck.suite.session import Session
from tools.mutation.covering import Covered, Watch, spread
from tools.mutation.trials import Kill

PATIENCE = Patience(outcome=5.0, gate=1.0)
KILLING = frozenset({"fail", "not-reached", "error"})
DRIVERS = (
    ((), REFERENCE),
    ((AGENT_LOOP,), SOLUTIONS),
    ((SERVER_LOOP,), SERVER),
)
"""The drivers of the reference, each with the profiles that it is played; none: those of all loops.

The program is not among them: it runs in processes of its own, which import no mutant.
"""


@dataclass(frozen=True, slots=True)
class Part:
    """The checks that one driver of the reference is played."""

    driver: str
    session: Session
    planned: Sequence[Planned]
    first: int
    """The number of its first check in the suite."""

    @property
    def numbers(self) -> range:
        return range(self.first, self.first + len(self.planned))


@dataclass(frozen=True, slots=True)
class Suite:
    """The checks of the suite, to be played to the reference as it is imported then."""

    parts: Sequence[Part]

    @classmethod
    def of(cls, cells: tuple[str, ...]) -> Suite:
        """All checks in these cells; in all, where there are none.

        Raises:
            CouldNotRun: the suite cannot be collected.
        """
        parts: list[Part] = []
        for profiles, driver in DRIVERS:
            selection = Selection(profiles, cells=cells)
            session = Session.begin(Options(selection=selection, patience=PATIENCE, examples=1, asks=False))
            with suppress(NothingSelected):  # servers, say, have fewer cells
                parts.append(Part(driver, session, plan(session), parts[-1].numbers.stop if parts else 0))
        if not parts:
            raise NothingSelected("there is no check in these cells")
        return cls(parts)

    @property
    def planned(self) -> list[Planned]:
        return [one for part in self.parts for one in part.planned]

    @property
    def names(self) -> list[str]:
        return [one.check.id for one in self.planned]

    def covered(self, folder: Path) -> Covered:
        """Play all checks to the unmutated reference, in a process that has not imported it yet.

        Raises:
            CouldNotRun: it fails one of them.
        """
        watch = Watch(folder)

        def watched(part: Part) -> Iterator[Planned]:
            for number, one in zip(part.numbers, part.planned, strict=True):
                watch.switch(number)
                yield one

        for part in self.parts:
            for played in play(part.session, part.driver, watched(part)):
                if played.result.verdict in KILLING:
                    result = played.result
                    raise CouldNotRun(f"the reference as it is fails {result.requirement}: {result.reason}")
        return self._shared(watch.end(len(self.planned)))

    def order(self, numbers: Iterable[int], seconds: Sequence[float]) -> list[int]:
        """Checks in the order in which they are worth playing."""
        checks = [one.check for one in self.planned]
        return spread(numbers, seconds, lambda number: (checks[number].requirement.id, checks[number].cell))

    def killed(self, numbers: Sequence[int]) -> Kill | None:
        """The first verdict of these checks against the reference as it is now; None: it passes them all."""
        for part in self.parts:
            wanted = [part.planned[number - part.first] for number in numbers if number in part.numbers]
            if wanted and (kill := _killed(part, wanted)):
                return kill
        return None

    def _shared(self, covered: Covered) -> Covered:
        """The same, where checks that are judged on one run count as executing what it executed."""
        sharing: dict[tuple[str, str, str], int] = {}
        groups = [(one.check.case, str(one.check.cell), one.check.requirement.profile) for one in self.planned]
        for number, group in enumerate(groups):
            sharing[group] = sharing.get(group, 0) | 1 << number
        several = [bits for bits in sharing.values() if bits & (bits - 1)]
        lines = {
            module: {line: _joined(bits, several) for line, bits in known.items()}
            for module, known in covered.lines.items()
        }
        return Covered(covered.seconds, lines)


def _killed(part: Part, wanted: Iterable[Planned]) -> Kill | None:
    try:
        for played in play(part.session, part.driver, wanted):
            if played.result.verdict in KILLING:
                return Kill("suite", played.result.requirement, played.result.verdict)
    except DriverFault as fault:
        return Kill("suite", fault.kind, "error")
    return None


def _joined(bits: int, groups: Sequence[int]) -> int:
    """A set, and all that share a group with one of it."""
    joined = bits
    for group in groups:
        if bits & group:
            joined |= group
    return joined
