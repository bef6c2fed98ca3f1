"""Declared cases: the scenarios of ``fixtures/cases/``, each judged by every requirement that it names.

If a recording of a real server follows the script of a case, the same requirements are judged on the recording too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from looptck.bench.assertions import hold, wants_to_go_on
from looptck.bench.cases import cases
from looptck.bench.checks import Implementation, control
from looptck.bench.run import Run
from looptck.cassettes import Cassette
from looptck.suite.session import Session
from looptck.values.verdicts import NotApplicable, NotReached

ENOUGH = 20
"""A limit that no declared case needs."""


def test_declared_case(implementation: Implementation, cassette: Cassette | None, session: Session) -> None:
    """In this case the implementation meets the requirement."""
    check = implementation.check
    case = cases()[cassette.scenario if cassette else check.case]
    expectations = case.checks[check.requirement.judged_as]
    if "control" in expectations:
        twin = cases()[expectations["control"]]
        calls = [call for step in twin.steps if step.turn for call in step.turn.calls]
        control(session.shared.run_of(twin, implementation), *(call.tool for call in calls))
    run = session.shared.run_of(cassette or case, implementation)

    try:
        hold(run, expectations)
    except (AssertionError, NotReached):
        if not wants_to_go_on(run) or not implementation.started.can("limit"):
            raise
        if not _holds(session.shared.run_of(cassette or case, implementation, limit=ENOUGH), expectations):
            raise
        asked = len(run.requests)
        raise NotApplicable(f"the loop's own limit is {asked} requests, and with a higher one it goes on") from None


def _holds(run: Run, expectations: Mapping[str, Any]) -> bool:
    """Whether a run with a limit that the caller has set is as expected."""
    try:
        hold(run, expectations)
    except (AssertionError, NotReached):
        return False
    return True
