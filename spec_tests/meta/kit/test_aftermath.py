"""What comes to light when a run has been judged: which results it changes, and which failures it adds."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from looptck.bench.run import Run
from looptck.bench.standing import LATE
from looptck.catalogue.requirements import catalogue
from looptck.drivers import DriverFault, Started
from looptck.provider.server import Late
from looptck.suite.aftermath import Aftermath
from looptck.suite.record import Record
from looptck.suite.selection import Selection
from looptck.values.verdicts import Result, Verdict

CELL, CASE = "openai-chat/plain/sync", "one-call"


def told(requirement: str, verdict: Verdict = "pass", reason: str = "") -> tuple[Record, Aftermath, Result]:
    """A record with a result of run `r1.1`, the ninth of the whole run."""
    started = Started("loop", "1.0", "python", ("openai-chat",), ("sync",), (), {}, {})
    record = Record("python:loop.py:Driver", started, catalogue(), Selection())
    result = catalogue()[requirement].result(CELL, CASE, verdict, reason)
    result.place = 9
    aftermath = Aftermath(record)
    aftermath.read_from(result, [cast("Run", SimpleNamespace(id="r1.1"))])
    record.add(result)
    return record, aftermath, result


def fault(run: str = "r1.1") -> DriverFault:
    """A fault of the driver that belongs to a run."""
    return DriverFault("bad-message", "a chunk came late", run=run)


@pytest.mark.parametrize(
    ("requirement", "verdict", "becomes"),
    [
        ("call-runs-its-tool-once", "pass", "error"),
        ("call-runs-its-tool-once", "fail", "error"),
        ("cancelled-run-asks-no-more", "pass", "error"),
        ("cancelled-run-asks-no-more", "fail", "fail"),
    ],
)
def test_a_late_fault_spoils_its_run(requirement: str, verdict: Verdict, becomes: str) -> None:
    """What the driver sent after the end makes the verdict an error, unless the service itself saw the failure."""
    record, aftermath, result = told(requirement, verdict, "it ran twice" if verdict == "fail" else "")

    aftermath.spoil(fault("r2.1"))
    assert verdict == result.verdict
    aftermath.spoil(fault())

    assert becomes == result.verdict
    assert (verdict == "fail") == result.reason.endswith("it ran twice")
    assert (becomes == "error") == bool(record.findings)


def test_two_late_faults_are_one_finding() -> None:
    """The first is the reason of the error; a second one adds nothing."""
    record, aftermath, result = told("call-runs-its-tool-once")

    aftermath.spoil(fault())
    first = result.reason
    aftermath.spoil(fault())

    assert (1, first) == (len(record.findings), result.reason)


@pytest.mark.parametrize(
    ("requirement", "path", "added"),
    [
        ("call-runs-its-tool-once", "/v1/chat/completions", True),
        ("call-runs-its-tool-once", "/confirm", True),
        ("loop010-no-request-is-refused", "/v1/chat/completions", True),
        ("loop010-no-request-is-refused", "/confirm", False),
    ],
)
def test_late_requests(requirement: str, path: str, *, added: bool) -> None:
    """They fail a requirement once for each run, behind all checks; a loop of 010 need not wait for all of them."""
    record, aftermath, _ = told(requirement)
    late = [Late("r1.1", "POST", path), Late("r1.1", "POST", path), Late("r7.1", "POST", path)]

    aftermath.come_late(late, behind=100)

    failures = [(one.requirement, one.verdict, one.place) for one in record.results[1:]]
    assert ([(LATE, "fail", 109)] if added else []) == failures
    assert len(failures) == len(record.findings)
    assert all(requirement in one.again for one in record.findings)
