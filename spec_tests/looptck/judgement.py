"""From what happened in a test item to its verdict, and from the verdict to pytest's outcome."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from looptck.checks import Check, Implementation
from looptck.drivers import DriverFault
from looptck.known import Known
from looptck.report.failure import told
from looptck.run import Run
from looptck.verdicts import AGAINST, WORST_FIRST, NotApplicable, NotReached, Result, Verdict

if TYPE_CHECKING:
    from looptck.session import Session


def verdict_of(error: BaseException | None) -> tuple[Verdict, str]:
    """The verdict and its reason, from what a check raised."""
    if error is None:
        return "pass", ""
    if isinstance(error, NotApplicable):
        return "not-applicable", str(error)
    if isinstance(error, NotReached):
        return "not-reached", str(error)
    if isinstance(error, DriverFault):
        return "error", str(error)
    if isinstance(error, AssertionError):
        return "fail", _first_lines(error)
    if isinstance(error, BaseExceptionGroup):
        return min(map(verdict_of, error.exceptions), key=lambda told: WORST_FIRST.index(told[0]))
    return "error", f"looptck itself: {type(error).__name__}: {error}"


_WHENCE = re.compile(r" +\+ +(where|and) ")
"""How pytest begins the lines that tell of which values an asserted value was made."""


def _first_lines(error: AssertionError) -> str:
    """What an assertion says. Where a check has its own words, pytest's account of whence values come is left out."""
    lines = str(error).strip().splitlines()
    if lines and not lines[0].startswith("assert "):
        lines = [line for line in lines if not _WHENCE.match(line)]
    return "\n".join(lines[:12]) or "an assertion of the check does not hold"


def result_of(check: Check, error: BaseException | None) -> Result:
    """The verdict of a check on what it raised, as a row of the results."""
    verdict, reason = verdict_of(error)
    return Result(
        requirement=check.requirement.id,
        profile=check.requirement.profile,
        level=check.requirement.level,
        cell=str(check.cell),
        case=check.case,
        verdict=verdict,
        reason=reason,
    )


def judge_report(
    session: Session,
    item: pytest.Item,
    check: Check,
    call: pytest.CallInfo[None],
    report: pytest.TestReport,
    implementation: Implementation | None,
) -> None:
    """Write the verdict of a finished phase down and make the report agree with it."""
    error = call.excinfo.value if call.excinfo else None
    if call.when == "teardown" or (call.when == "setup" and error is None):
        return
    if isinstance(error, KeyboardInterrupt | pytest.exit.Exception):
        return
    result = result_of(check, error)
    runs = implementation.runs if implementation else []
    item.user_properties += [("requirement", result.requirement), ("cell", result.cell), ("verdict", result.verdict)]
    _outcome(session, item, report, check, result)
    if result.verdict in AGAINST or result.verdict == "error":
        text = told(session.kit.driver, check, result, runs[-1] if runs else None, error)
        if report.outcome == "failed":
            report.longrepr = text
            session.failures.append(text)
    session.add(result, runs)
    _notice(session, item, check, runs)
    for topic, answer in (implementation.divergences if implementation else {}).items():
        session.add(_divergence(result, topic, answer))
    runs.clear()


def _notice(session: Session, item: pytest.Item, check: Check, runs: Sequence[Run]) -> None:
    """Take in what the runs of a check show beside its verdict."""
    noticed = None if item.get_closest_marker("looptck_refusable") else session.notice(check, runs)
    if noticed is None:
        return
    result, run = noticed
    row = session.catalogue[result.requirement]
    text = told(session.kit.driver, replace(check, requirement=row), result, run, None, seen_by=check)
    if not session.is_known(row.id, check.cell):
        session.failures.append(text)
    session.add(result, [run], noticed=True)


def _outcome(session: Session, item: pytest.Item, report: pytest.TestReport, check: Check, result: Result) -> None:
    """Make pytest's outcome say what the verdict says."""
    known = session.known_for(check)
    if result.verdict == "not-applicable":
        report.outcome = "skipped"
        report.longrepr = (str(item.path), item.location[1] or 0, f"not-applicable: {result.reason}")
    elif result.verdict == "error":
        report.outcome = "failed"
        report.when = "setup"
    elif result.verdict in AGAINST and known is not None:
        report.outcome = "skipped"
        report.wasxfail = known.reason
    elif result.verdict == "pass" and known is not None and _stale(session, check, known):
        report.outcome = "failed"
        report.longrepr = f"[XPASS(strict)] {known}: passes now, though known to fail: {known.reason}"


def _stale(session: Session, check: Check, known: Known) -> bool:
    """Whether this check, which has passed, is the last of its requirement and cell, and all the others have too."""
    if not session.judges_all_of(known):
        return False
    of_both = [one for one in session.chosen if (one.requirement.id, one.cell) == (check.requirement.id, check.cell)]
    both = (check.requirement.id, str(check.cell))
    done = [one for one in session.results if (one.requirement, one.cell) == both]
    judged = [one for one in done if one.verdict != "divergence"]
    return len(judged) == len(of_both) - 1 and all(one.verdict == "pass" for one in judged)


def _divergence(result: Result, topic: str, answer: str) -> Result:
    return Result(
        requirement=result.requirement,
        profile=result.profile,
        level=result.level,
        cell=result.cell,
        case=result.case,
        verdict="divergence",
        reason=f"{topic}: {answer}",
    )
