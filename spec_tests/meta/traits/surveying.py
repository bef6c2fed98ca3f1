"""What a loop of this folder answers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from looptck.bench.bench import Patience
from looptck.catalogue.traits import Answer, traits
from looptck.commands.pytest_run import run_pytest
from looptck.suite.options import Options
from looptck.suite.selection import Selection
from looptck.suite.session import Session
from meta.loops.judging import recordings


@cache
def surveyed(driver: type | None, *cells: str, only: Sequence[str] = (), outcome: float = 60.0) -> tuple[Answer, ...]:
    """The answers of a driver (None: the reference) to these traits, or to all, in these cells."""
    session = survey(driver, *cells, only=only, outcome=outcome)
    return tuple(session.survey.answers)


def survey(driver: type | None, *cells: str, only: Sequence[str] = (), outcome: float = 60.0) -> Session:
    """The session that has asked for them."""
    names = tuple(only) or tuple(trait.id for trait in traits())
    name = f"python:{driver.__module__}:{driver.__name__}" if driver else None
    options = Options(
        name, Selection(cells=cells, traits=names), patience=Patience(outcome, 15.0), cassettes=recordings()
    )
    session = Session.begin(options)
    run_pytest(session)
    session.end()
    return session


def told(answers: Sequence[Answer], cell: str) -> dict[str, str]:
    """The answers in a cell, by trait."""
    return {one.trait: one.answer for one in answers if one.cell == cell}
