"""Plays a plan to one implementation: the tests of the suite as functions, and what they raise as verdicts."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass

from looptck.checks import Implementation
from looptck.guest import Guest
from looptck.judgement import result_of
from looptck.kill.plan import Planned
from looptck.kit import Kit, Scene
from looptck.outcome import Failed
from looptck.plugin import ITEM
from looptck.run import Run
from looptck.session import Session
from looptck.verdicts import Result

UNPLANNED = "other"
"""The reason of an error that no loop raises on purpose: neither limit nor provider, neither arguments nor tool."""


@dataclass(frozen=True, slots=True)
class Played:
    """The verdict of one check."""

    number: int
    """Of the check in its plan."""
    result: Result
    crash: str = ""
    """The type of the error in which the run ended that a `fail` rests on, where no loop raises such on purpose."""


def play(session: Session, driver: str, planned: Iterable[Planned]) -> Generator[Played, None, None]:
    """The verdicts of an implementation, one after the other, as they are asked for.

    Raises:
        DriverFault: the driver cannot be started.
    """
    with Kit(driver, session.kit.patience) as kit:
        playing = session.on(kit)
        for one in planned:
            yield _played(playing, one)


def _played(session: Session, planned: Planned) -> Played:
    implementation = session.implementation(planned.check, Scene())
    implementation.shrinks = False
    error: BaseException | None = None
    try:
        session.require(planned.check)
        planned.test(**_fixtures(session, planned, implementation), **planned.values)
    except Exception as raised:  # noqa: BLE001  what a check raises is its verdict
        error = raised
    result = result_of(planned.check, error)
    last = implementation.runs[-1] if implementation.runs else None
    return Played(planned.number, result, _crash(last) if result.verdict == "fail" else "")


def _fixtures(session: Session, planned: Planned, implementation: Implementation) -> dict[str, object]:
    known = {
        ITEM: implementation,
        "provider": implementation.scene,
        "guest": Guest(implementation),
        "cassette": session.cassette_of(planned.check),
        "session": session,
    }
    return {name: known[name] for name in planned.fixtures}


def _crash(run: Run | None) -> str:
    outcome = run.outcome if run else None
    return outcome.type if isinstance(outcome, Failed) and outcome.reason == UNPLANNED else ""
