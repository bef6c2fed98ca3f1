"""The options of a kill matrix, and the mutants of each reference."""

from __future__ import annotations

import shlex
from pathlib import Path

from looptck.bench.bench import Patience
from looptck.drivers import PROGRAM_OF_REFERENCE, SERVER, SOLUTIONS, reference
from looptck.values.frozen import dataclass

MUTANTS = "python:looptck_mutants:MUTANTS"
SERVER_MUTANTS = "python:looptck_mutants.server_loop:MUTANTS"
SOLUTION_MUTANTS = "python:looptck_mutants.agent_loop_010:MUTANTS"
PROGRAM_MUTANTS = "python:looptck_mutants.program:MUTANTS"
COLLECTIONS = {SERVER: SERVER_MUTANTS, SOLUTIONS: SOLUTION_MUTANTS, PROGRAM_OF_REFERENCE: PROGRAM_MUTANTS}
"""The mutants of the other references, by reference; those of the usual one are `MUTANTS`."""


@dataclass(frozen=True, slots=True)
class KillOptions:
    """The options of a kill matrix."""

    driver: str | None = None
    """The loop without a fault; None: the reference."""
    mutants: str | None = None
    """The collection of its mutants; None: those of the reference."""
    names: tuple[str, ...] = ()
    """Only these mutants."""
    requirements: tuple[str, ...] = ()
    """Only mutants that break one of these requirements."""
    profiles: tuple[str, ...] = ()
    """Only mutants of these profiles; none: the profiles of `requirements`, or all."""
    cells: tuple[str, ...] = ()
    """The cells in which mutants are judged; none: those that each mutant declares."""
    full: bool = False
    """Judge in every cell; then everything that a mutant declares must fail."""
    own: bool = False
    """Judge each mutant only by the checks of what it breaks, each until one fails; its collateral stays unknown."""
    passed: tuple[Path, ...] = ()
    """Results of runs of the loop without a fault; the checks that it has passed there are not played again."""
    examples: int = 1
    """Examples per property; one is always the simplest example, so the result does not depend on chance."""
    timeout: float | None = None
    """Seconds without an event after which a run has hung; None: 10, or 30 for servers with hundreds of clients."""
    patience: float = 3.0
    """Seconds that a gate waits."""
    workers: int | None = None
    """Mutants judged in parallel; None: two for each core."""
    seconds: float = 600.0
    """The time limit for one mutant."""
    cassettes: Path | None = None

    @property
    def loop(self) -> str:
        """The driver of the loop without a fault."""
        return self.driver or reference(self.profiles)

    @property
    def waits(self) -> Patience:
        """The timeouts of a run."""
        return Patience(self.timeout or (30.0 if self.loop == SERVER else 10.0), self.patience)

    @property
    def collection(self) -> str:
        """The collection of the mutants."""
        return self.mutants or COLLECTIONS.get(self.loop, MUTANTS)


def again(wanted: KillOptions) -> str:
    """The command line that makes the matrix, without a selection of mutants."""
    words = ["looptck", "kill"]
    words += ["--driver", wanted.driver] if wanted.driver else []
    words += ["--mutants", wanted.mutants] if wanted.mutants else []
    words += [word for profile in wanted.profiles for word in ("--profile", profile)]
    words += ["--own"] if wanted.own else []
    words += ["--full"] if wanted.full else [word for cell in wanted.cells for word in ("--cell", cell)]
    return shlex.join(words)
