"""Declared cases: the scenarios of ``fixtures/cases/``, each judged by every requirement that it names."""

from __future__ import annotations

import pytest

from looptck.cases import cases
from looptck.checks import Implementation, control
from looptck.expectations import hold
from looptck.plugin import session_of


def test_declared_case(implementation: Implementation, request: pytest.FixtureRequest) -> None:
    """The implementation does in this case what the requirement expects."""
    session = session_of(request.config)
    check = implementation.check
    case = cases()[check.case]
    expectations = case.checks[check.requirement.id]
    if "control" in expectations:
        twin = cases()[expectations["control"]]
        calls = [call for step in twin.steps if step.turn for call in step.turn.calls]
        control(session.run_of(twin, implementation), *(call.tool for call in calls))
    run = session.run_of(case, implementation)

    hold(run, expectations)
