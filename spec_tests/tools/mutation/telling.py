"""What is told of trials: survivors, what is wrong with the reviewed list, and the counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic

from tools.mutation.trials import Mutant, Trial


@dataclass
class Report(Generic[Mutant]):
    """What became of all mutants that were tried."""

    trials: Sequence[Trial[Mutant]]
    listed: Mapping[str, str]
    """The reviewed list: why a mutant cannot, or need not, be killed."""
    shown: Callable[[Mutant], Sequence[str]]
    """A mutant in a few lines: where it is, and what it changes."""
    untried: int = 0
    """How many mutants were left when the run was interrupted."""

    @cached_property
    def survivors(self) -> list[Mutant]:
        """Those that nothing killed and nothing explains."""
        alive = (one.mutant for one in self.trials if one.kill is None and not one.trouble)
        return [mutant for mutant in alive if mutant.name not in self.listed]

    @property
    def troubles(self) -> list[str]:
        """The mutants that could not be tried, and why."""
        interrupted = [f"interrupted: {self.untried} mutants were not tried"] if self.untried else []
        troubles = [f"{one.mutant.name}: could not be tried: {one.trouble}" for one in self.trials if one.trouble]
        return [*troubles, *interrupted]

    @cached_property
    def stale(self) -> list[str]:
        """The names on the list of mutants that were killed."""
        killed = (one for one in self.trials if one.kill is not None and one.mutant.name in self.listed)
        return [f"{one.mutant.name}: is on the list, and {one.kill.which} kills it" for one in killed if one.kill]

    @property
    def counts(self) -> dict[str, int]:
        by = Counter(one.kill.by for one in self.trials if one.kill is not None)
        return {
            "sites": len(self.trials),
            "killed by the suite": by["suite"],
            "killed by unit tests": by["tests"],
            "killed by a limit": by["limit"],
            "equivalent": sum(one.kill is None and one.mutant.name in self.listed for one in self.trials),
            "survived": len(self.survivors),
        }

    @property
    def fails(self) -> int:
        """How many were killed by a ``fail`` of the suite, and not by a crash or by what was not reached."""
        return sum(one.kill is not None and (one.kill.by, one.kill.verdict) == ("suite", "fail") for one in self.trials)

    @property
    def percentage(self) -> float:
        """Killed of those that can be, in percent."""
        able = len(self.trials) - self.counts["equivalent"]
        return 100 * (able - len(self.survivors)) / able if able else 100.0

    def lines(self) -> list[str]:
        """What a person reads; the last line is the counts."""
        survivors = [line for mutant in self.survivors for line in (f"survived: {mutant.name}", *self.shown(mutant))]
        counts = self.counts
        told = [f"{count} {what}" for what, count in counts.items()]
        told[1] += f" ({self.fails} by a fail)"
        return [*survivors, *self.stale, *self.troubles, f"{', '.join(told)}: {self.percentage:.1f} % killed"]

    def serializable(self) -> dict[str, Any]:
        """The same as JSON, with each mutant."""
        fates = [
            {
                "name": one.mutant.name,
                "by": one.kill.by if one.kill else None,
                "which": one.kill.which if one.kill else self.listed.get(one.mutant.name),
                "verdict": one.kill.verdict if one.kill else None,
            }
            for one in self.trials
        ]
        return {**self.counts, "killed by a fail": self.fails, "percentage": self.percentage, "mutants": fates}
