"""Plans: the checks of the suite, collected once by pytest and then played many times without it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import field
from typing import Any

import pytest

from looptck.bench.checks import Check
from looptck.commands.pytest_run import run_pytest
from looptck.suite.directly import GIVEN
from looptck.suite.options import CouldNotRun
from looptck.suite.plugin import check_of
from looptck.suite.session import Session
from looptck.values.cell import Cell
from looptck.values.frozen import dataclass


class NothingSelected(CouldNotRun):
    """No check of the suite is among those selected."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A check, and the test that decides it."""

    check: Check
    number: int
    """The index of the check in the plan."""
    test: Callable[..., None] = field(repr=False)
    values: dict[str, Any] = field(repr=False)
    """The arguments of the test other than fixtures."""
    fixtures: tuple[str, ...] = ()
    lengthy: bool = False


def plan(session: Session) -> tuple[Planned, ...]:
    """The selected checks of a session, in the order of the suite.

    Raises:
        NothingSelected: there is no such check.
        CouldNotRun: the suite cannot be collected.
    """
    collector = _Collector()
    status = run_pytest(session, ["--collect-only"], [collector])
    if collector.broken or status not in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
        raise CouldNotRun(
            "\n".join(collector.broken) or f"the suite was not collected: pytest ended with status {status}"
        )
    if not collector.planned:
        raise NothingSelected("nothing was selected: there is no check to play")
    return tuple(collector.planned)


def sample(planned: Iterable[Planned], whole: Collection[str]) -> list[Planned]:
    """All checks of these requirements; of every other one, the first and the last short check in each cell."""
    by: dict[tuple[str, Cell], list[Planned]] = {}
    for one in planned:
        by.setdefault((one.check.requirement.id, one.check.cell), []).append(one)
    kept = [
        one
        for (id, _), checks in by.items()
        for one in (checks if id in whole else _ends([check for check in checks if not check.lengthy]))
    ]
    return sorted(kept, key=lambda one: one.number)


def _ends(checks: list[Planned]) -> list[Planned]:
    return checks if len(checks) < 2 else [checks[0], checks[-1]]


def chosen(planned: Iterable[Planned], *, profile: str, cells: Sequence[str]) -> list[Planned]:
    """The checks of a profile in the cells that match these patterns."""
    return [one for one in planned if one.check.requirement.profile == profile and one.check.cell.matches(cells)]


def cases_of(planned: Iterable[Planned]) -> dict[str, list[str]]:
    """The cases of each requirement's checks in all cells, without duplicates."""
    by: dict[str, dict[str, None]] = {}
    for one in planned:
        by.setdefault(one.check.requirement.id, {})[one.check.case] = None
    return {id: [*cases] for id, cases in by.items()}


class _Collector:
    """A pytest plugin that stores the collected checks."""

    def __init__(self) -> None:
        self.planned: list[Planned] = []
        self.broken: list[str] = []

    @pytest.hookimpl
    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.broken.append(str(report.longrepr))

    @pytest.hookimpl
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            check = check_of(item)
            if check is not None and isinstance(item, pytest.Function):
                names = inspect.signature(item.function).parameters
                values = {name: item.callspec.params[name] for name in names if name not in GIVEN}
                fixtures = tuple(name for name in names if name in GIVEN)
                lengthy = item.get_closest_marker("looptck_lengthy") is not None
                self.planned.append(Planned(check, len(self.planned), item.function, values, fixtures, lengthy))
