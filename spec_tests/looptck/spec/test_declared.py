"""Declared cases: the scenarios of ``fixtures/cases/``, each judged by every requirement that it names.

If a recording of a real server follows the script of a case, the same requirements are judged on the recording too.
"""

from __future__ import annotations

from looptck.bench.assertions import hold
from looptck.bench.cases import cases
from looptck.bench.checks import Implementation, control
from looptck.cassettes import Cassette
from looptck.suite.session import Session


def test_declared_case(implementation: Implementation, cassette: Cassette | None, session: Session) -> None:
    """In this case the implementation meets the requirement."""
    check = implementation.check
    case = cases()[cassette.scenario if cassette else check.case]
    expectations = case.checks[check.requirement.judged_as]
    if "control" in expectations:
        twin = cases()[expectations["control"]]
        calls = [call for step in twin.steps if step.turn for call in step.turn.calls]
        control(session.run_of(twin, implementation), *(call.tool for call in calls))
    run = session.run_of(cassette or case, implementation)

    hold(run, expectations)
