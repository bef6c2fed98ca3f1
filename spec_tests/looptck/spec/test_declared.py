"""Declared cases: the scenarios of ``fixtures/cases/``, each judged by every requirement that it names.

Where a server was recorded that kept to the script, the same requirements are judged on the recording.
"""

from __future__ import annotations

from looptck.cases import cases
from looptck.cassettes import Cassette
from looptck.checks import Implementation, control
from looptck.expectations import hold
from looptck.session import Session


def test_declared_case(implementation: Implementation, cassette: Cassette | None, session: Session) -> None:
    """The implementation does in this case what the requirement expects."""
    check = implementation.check
    case = cases()[cassette.scenario if cassette else check.case]
    expectations = case.checks[check.requirement.id]
    if "control" in expectations:
        twin = cases()[expectations["control"]]
        calls = [call for step in twin.steps if step.turn for call in step.turn.calls]
        control(session.run_of(twin, implementation), *(call.tool for call in calls))
    run = session.run_of(cassette or case, implementation)

    hold(run, expectations)
