"""The options of a run, and what is prepared for it before an implementation is started."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path

from looptck.bench.bench import Bench, Patience
from looptck.bench.choosing import bench_for
from looptck.cassettes import Cassette, cassettes
from looptck.catalogue import known_failures
from looptck.catalogue.dialects import dialect
from looptck.catalogue.extras import NotInstalled
from looptck.catalogue.known_failures import Known
from looptck.catalogue.requirements import Catalogue, catalogue
from looptck.catalogue.yaml_files import BadFile
from looptck.drivers import DriverFault, reference
from looptck.failures import trace
from looptck.suite.selection import Selection
from looptck.suite.units import Shard
from looptck.values.frozen import dataclass
from looptck.wires import WIRES
from looptck.wires.spoken import spoken


class CouldNotRun(Exception):
    """The run cannot begin: a driver that does not start, a selection that names nothing, a bad file."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a run of the suite."""

    driver: str | None = None
    """None: the reference."""
    selection: Selection = field(default_factory=Selection)
    known_failures: Path | None = None
    patience: Patience = field(default_factory=Patience)
    examples: int | None = None
    """Examples for each property; None: as many as belong to the size of the run."""
    cassettes: Path | None = None
    """A folder of cassettes to use instead of those shipped."""
    asks: bool = True
    """Whether the run asks about traits."""
    trace: Path | None = None
    """The folder for the traffic of failed runs."""
    shard: Shard | None = None
    """The part of the run that is played; None: all of it."""
    thorough: bool = True
    """Whether everything is played; if not, few examples of each property, and one dress of each check."""
    dialect: str | None = None
    """The compatible server whose dialect the provider speaks; None: each wire as its own service speaks it."""

    @property
    def words(self) -> list[str]:
        """The options that change what a check does, as command line words."""
        usual, words = Options(), []
        if self.patience.outcome != usual.patience.outcome:
            words += ["--timeout", f"{self.patience.outcome:g}"]
        if self.patience.gate != usual.patience.gate:
            words += ["--patience", f"{self.patience.gate:g}"]
        if self.examples is not None:
            words += ["--examples", str(self.examples)]
        if self.dialect:
            words += ["--dialect", self.dialect]
        return words + (["--cassettes", str(self.cassettes)] if self.cassettes else [])


@contextmanager
def playable() -> Iterator[None]:
    """Raises CouldNotRun in place of what says that a run cannot begin."""
    try:
        yield
    except (BadFile, DriverFault, NotInstalled, ValueError) as error:
        mend = error.mend if isinstance(error, DriverFault) else ""
        raise CouldNotRun(f"{error}\nmend: {mend}" if mend else str(error)) from error


@dataclass(frozen=True, slots=True)
class Prepared:
    """What is there before an implementation is started."""

    options: Options
    bench: Bench
    """It is not entered."""
    rows: Catalogue
    known: list[Known]
    given: tuple[Cassette, ...] | None
    """The cassettes of the folder that was named; None: none was."""

    @classmethod
    def of(cls, options: Options) -> Prepared:
        """Read all files that were named.

        Raises:
            CouldNotRun: the message is the reason.
        """
        with playable():
            rows = catalogue()
            options.selection.check(rows)
            given = cassettes(options.cassettes, options.selection.cells) if options.cassettes else None
            entries = known_failures.read(options.known_failures, rows) if options.known_failures else []
            if options.trace is not None:
                trace.prepare(options.trace)
            told = options.dialect
            wires = {name: spoken(wire, dialect(told)) for name, wire in WIRES.items()} if told else WIRES
            bench = bench_for(options.driver or reference(options.selection.profiles), options.patience)
            bench.wires = wires
        return cls(options, bench, rows, entries, given)
