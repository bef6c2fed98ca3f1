"""Plays a plan to one implementation: calls the tests of the suite as functions and turns exceptions into verdicts."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import replace
from pathlib import Path
from time import monotonic
from traceback import walk_tb

from looptck.bench.choosing import bench_for
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.commands.kill.plan import Planned
from looptck.suite.directly import given
from looptck.suite.session import Session
from looptck.suite.verdict_of import result_of
from looptck.values.frozen import dataclass
from looptck.values.outcome import Failed
from looptck.values.program import Exit
from looptck.values.verdicts import Result

PLAYER = Path(__file__)
SUITE = PLAYER.parents[2]
"""The package; frames outside it, such as those of a library that draws examples, are not the place of a failure."""
TRACEBACK = "Traceback (most recent call last)"
"""What a program writes that ends by an error of its own; an exit status alone is planned."""
UNPLANNED = "other"
"""The reason of an unexpected error: not the limit, the provider, the arguments or a tool."""


@dataclass(frozen=True, slots=True)
class Played:
    """The verdict of one check."""

    number: int
    """The index of the check in the plan."""
    result: Result
    crash: str = ""
    """The type of the unexpected error that ended the run of a `fail`; empty if there was none."""
    place: str = ""
    """Where in the suite the check failed: files and lines, from the check to the assertion."""
    seconds: float = 0.0
    """How long it took."""

    @property
    def kills(self) -> bool:
        """Whether it has failed for another reason than a crash."""
        return self.result.verdict == "fail" and not self.crash


def play(
    session: Session, driver: str, planned: Iterable[Planned], *, whole: bool = True
) -> Generator[Played, None, None]:
    """Yield the verdicts of an implementation, one check after the other.

    Args:
        session: a session that has ended, or that of another implementation.
        driver: the implementation.
        planned: the checks.
        whole: whether further checks are played of a requirement that has failed.

    Raises:
        DriverFault: the driver cannot be started.
    """
    with bench_for(driver, session.bench.patience) as bench:
        playing = session.on(bench)
        failed: set[str] = set()
        for one in planned:
            if one.check.requirement.id in failed:
                continue
            began = monotonic()
            played = _played(playing, one)
            if played.kills and not whole:
                failed.add(played.result.requirement)
            yield replace(played, seconds=monotonic() - began)


def _played(session: Session, planned: Planned) -> Played:
    implementation = session.implementation(planned.check, Scenario())
    implementation.shrinks = False
    error: BaseException | None = None
    try:
        session.require(planned.check)
        planned.test(**given(session, implementation, planned.fixtures), **planned.values)
    except Exception as raised:  # noqa: BLE001  any exception of a check is its verdict
        error = raised
    result = result_of(planned.check, error)
    last = implementation.runs[-1] if implementation.runs else None
    if result.verdict != "fail":
        return Played(planned.number, result)
    return Played(planned.number, result, _crash(last), _place(error))


def _place(error: BaseException | None) -> str:
    lines = [(Path(frame.f_code.co_filename), line) for frame, line in walk_tb(error.__traceback__ if error else None)]
    return " ".join(f"{path.stem}:{line}" for path, line in lines if path.is_relative_to(SUITE) and path != PLAYER)


def _crash(run: Run | None) -> str:
    outcome = run.outcome if run else None
    if run is not None and run.program is not None and TRACEBACK not in (run.program.exit or Exit(None)).stderr:
        return ""
    return outcome.type if isinstance(outcome, Failed) and outcome.reason == UNPLANNED else ""
