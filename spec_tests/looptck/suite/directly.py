"""Plays a check as a call of its test, without the phases and the fixtures of pytest, which cost as much as the check.

Only the kit's own commands play so. Under plain pytest, where the plugins of a project have a say, and for JUnit XML,
whose entries are made of phases, pytest runs an item as it runs any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import pytest

from looptck.bench.checks import Check, Implementation
from looptck.bench.scenario import Scenario
from looptck.bench.server import ServerUnderTest
from looptck.suite.plugin import IMPLEMENTATION, ITEM, JUDGING, SESSION, check_of
from looptck.suite.session import Session

GIVEN: dict[str, Callable[[Session, Implementation], object]] = {
    ITEM: lambda _, implementation: implementation,
    "scenario": lambda _, implementation: implementation.scenario,
    "cassette": lambda session, implementation: session.cassette_of(implementation.check),
    "server": lambda _, implementation: ServerUnderTest(implementation),
    "session": lambda session, _: session,
}
"""The fixtures of a check, as `looptck.spec.conftest` has them; any other argument of a test is a parameter."""


def given(session: Session, implementation: Implementation, names: Iterable[str]) -> dict[str, object]:
    """The values of those fixtures of a check that have these names."""
    return {name: GIVEN[name](session, implementation) for name in names if name in GIVEN}


@contextmanager
def judging(item: pytest.Item, check: Check, session: Session) -> Iterator[Implementation]:
    """The implementation under test, while an item judges it.

    Raises:
        NotApplicable: it lacks what the check needs.
    """
    session.require(check)
    implementation = item.stash[IMPLEMENTATION] = session.implementation(check, Scenario())
    item.config.stash[JUDGING] = True
    try:
        yield implementation
    finally:
        item.config.stash[JUDGING] = False


class Directly:
    """The pytest plugin that plays so; what is no check is left to pytest."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        """Play an item that is a check, and report it as pytest reports the call of a test."""
        check = check_of(item)
        if check is None or not isinstance(item, pytest.Function):
            return None
        session = item.config.stash[SESSION]
        passing_on = (KeyboardInterrupt, pytest.exit.Exception)
        try:
            call = pytest.CallInfo.from_call(lambda: _play(item, check, session), when="call", reraise=passing_on)
            report = item.ihook.pytest_runtest_makereport(item=item, call=call)
        finally:
            item.funcargs.clear()
        session.shared.over(check)
        item.ihook.pytest_runtest_logreport(report=report)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport | None:
        """A report of a check without the traceback of what it raised, for which the kit has a text of its own."""
        if check_of(item) is None or (call.excinfo is not None and call.excinfo.errisinstance(pytest.skip.Exception)):
            return None
        return pytest.TestReport(
            nodeid=item.nodeid,
            location=item.location,
            keywords={},
            outcome="passed" if call.excinfo is None else "failed",
            longrepr=None,
            when="call",
            duration=call.duration,
            start=call.start,
            stop=call.stop,
        )


def _play(item: pytest.Function, check: Check, session: Session) -> None:
    parameters = {name: value for name, value in item.callspec.params.items() if name != ITEM}
    with judging(item, check, session) as implementation:
        item.funcargs.update(parameters | given(session, implementation, item.fixturenames))
        item.ihook.pytest_runtest_call(item=item)
