"""Turns the result of a test item into a verdict, and the verdict into pytest's outcome."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from looptck.bench import joined_rounds, left_out
from looptck.bench.cases import cases
from looptck.bench.checks import Check, Implementation
from looptck.bench.run import Run
from looptck.catalogue.known_failures import Known
from looptck.drivers import DriverFault
from looptck.failures import trace
from looptck.failures.failure import again, ending, evidence, render_failure
from looptck.failures.groups import Finding
from looptck.failures.reasons import wrong_behind
from looptck.failures.receipt import receipt
from looptck.suite.sizes import EXAMPLES
from looptck.values.plain import compared, cut
from looptck.values.verdicts import AGAINST, WORST_FIRST, NotApplicable, NotReached, Result, Verdict

if TYPE_CHECKING:
    from looptck.suite.session import Session


PLAIN = "\u2060"
"""Marks looptck's words within pytest's assertion message: a word joiner, which no terminal shows."""
LAST = 3
"""How many runs of a check are examined for the cause: of a property's runs all but the last passed."""


def verdict_of(error: BaseException | None) -> tuple[Verdict, str]:
    """The verdict and its reason, from the exception of a check."""
    if error is None:
        return "pass", ""
    if isinstance(error, NotApplicable):
        return "not-applicable", str(error)
    if isinstance(error, NotReached):
        return "not-reached", str(error)
    if isinstance(error, DriverFault):
        return "error", error.in_full()
    if isinstance(error, AssertionError):
        return "fail", _first_lines(error)
    if isinstance(error, BaseExceptionGroup):
        return min(map(verdict_of, error.exceptions), key=lambda verdict: WORST_FIRST.index(verdict[0]))
    return "error", f"looptck itself: {type(error).__name__}: {error}"


_ASSERTED = re.compile(r"(?:^|\n)assert ")
"""Where pytest's description of an assertion begins: alone, or after the message of the check."""
_WORDS = re.compile(PLAIN + r"(.*?)" + PLAIN, re.DOTALL)
"""A failed comparison as `words` describes it, anywhere in pytest's description."""
UNSAID = "an assertion of the check failed"
MOST_LINES = 12
LONGEST = 500
"""The most characters of a comparison; pytest would cut off the end of a much longer one."""


def words(op: str, left: object, right: object) -> list[str]:
    """A failed comparison in plain words, between marks that `_WORDS` finds in pytest's message."""
    return [PLAIN + cut(compared(op, left, right).replace(PLAIN, ""), LONGEST) + PLAIN]


def _first_lines(error: AssertionError) -> str:
    """The message of an assertion: the check's own, else that of the comparison, without Python source."""
    text = str(error).strip()
    own, *rest = _ASSERTED.split(text, maxsplit=1)
    if not own and rest:
        said = _WORDS.search(rest[0])
        own = f"{PLAIN}{said[1]}" if said else ""
    return "\n".join(own.strip().split("\n")[:MOST_LINES]) or UNSAID


def result_of(check: Check, error: BaseException | None, states: str = "") -> Result:
    """The verdict from the exception of a check, as a result; ``states`` is the statement that should hold."""
    verdict, reason = verdict_of(error)
    if reason == UNSAID:
        reason = f"not true: {states}" if states else str(error).partition("\n")[0] or UNSAID
    elif reason.startswith(PLAIN):
        reason = reason.removeprefix(PLAIN) + (f"; what should hold: {states}" if states else "")
    return check.requirement.result(str(check.cell), check.case, verdict, reason)


def judge_report(
    session: Session,
    item: pytest.Item,
    check: Check,
    call: pytest.CallInfo[None],
    report: pytest.TestReport,
    implementation: Implementation | None,
) -> None:
    """Record the verdict of a finished test phase, and make pytest's report agree with it."""
    error = call.excinfo.value if call.excinfo else None
    if call.when == "teardown" or (call.when == "setup" and error is None):
        return
    if isinstance(error, KeyboardInterrupt | pytest.exit.Exception):
        return
    session.at(check)
    result = result_of(check, error, _states(item, check))
    runs = implementation.runs if implementation else []
    dialect = implementation.started.dialect if implementation is not None else {}
    if result.verdict in AGAINST and (why := left_out.of(runs[-LAST:], dialect)):
        result.verdict, result.reason = "not-applicable", why
    if result.verdict == "fail":
        result.reason += joined_rounds.hint(runs[-LAST:], result.reason)
    if implementation is not None and implementation.sampled and session.examples < EXAMPLES:
        session.record.sampled.append(check.names)
    item.user_properties += [("requirement", result.requirement), ("cell", result.cell), ("verdict", result.verdict)]
    _outcome(session, item, report, check, result)
    if result.verdict in AGAINST or result.verdict == "error":
        finding = found(session, check, result, implementation)
        session.record.findings.append(finding)
        if report.outcome == "failed":
            report.longrepr = finding.text
    session.add(result, runs)
    _notice(session, item, check, runs)
    for topic, answer in (implementation.divergences if implementation else {}).items():
        session.add(replace(result, verdict="divergence", reason=f"{topic}: {answer}"))
    runs.clear()


def _notice(session: Session, item: pytest.Item, check: Check, runs: Sequence[Run]) -> None:
    """Record what the runs of a check show in addition to its verdict."""
    noticed = None if item.get_closest_marker("looptck_refusable") else session.shared.notice(check, runs)
    if noticed is None:
        return
    result, run = noticed
    row = session.catalogue[result.requirement]
    session.record.findings.append(
        _finding(session, replace(check, requirement=row), result, [run], None, played=check)
    )
    session.add(result, [run], noticed=True)


def found(session: Session, check: Check, result: Result, implementation: Implementation | None) -> Finding:
    """The details of a verdict against the implementation; call it while the runs of the check are kept."""
    runs = implementation.runs[-LAST:] if implementation else []
    example = implementation.example if implementation else None
    return _finding(session, check, result, runs, example, played=check)


def _finding(
    session: Session,
    check: Check,
    result: Result,
    runs: Sequence[Run],
    example: Mapping[str, Any] | None,
    *,
    played: Check,
) -> Finding:
    """The details from these runs; ``played`` is the check that the command in the report repeats."""
    run = runs[-1] if runs else None
    drawn = ["--examples", str(session.examples)] if example and "--examples" not in session.record.given else []
    line = again(session.record.driver, played, [*session.record.given, *drawn])
    finding = Finding(
        result,
        sign=next((found[1] for run in reversed(runs) if (found := wrong_behind(run, result.reason))), None),
        runs=tuple(one.id for one in runs),
        text=render_failure(check, result, run, line, example),
        evidence=evidence(run, result.reason),
        ending=ending(run, result.reason),
        again=line,
        size=len(run.transcript.events) if run else 0,
        known=session.record.known_of(result) is not None,
        receipt=receipt(runs, result.reason),
    )
    if session.trace is not None and run is not None:
        folder = session.trace / trace.folder_of(run, check.case)
        trace.write(folder, run, finding.text)
        finding.trace = str(folder)
    return finding


def _states(item: pytest.Item, check: Check) -> str:
    """The statement that a check tests: the sentence of its case, or how the docstring of its function begins."""
    case = cases().get(check.case)
    doc = inspect.getdoc(getattr(item, "function", None)) or ""
    return case.why if case else " ".join(doc.partition("\n\n")[0].split())


def _outcome(session: Session, item: pytest.Item, report: pytest.TestReport, check: Check, result: Result) -> None:
    """Make pytest's outcome agree with the verdict."""
    known = session.record.known_of(result)
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
        report.longrepr = f"[XPASS(strict)] {known}: passes now, but is a known failure: {known.reason}"


def _stale(session: Session, check: Check, known: Known) -> bool:
    """Whether this passed check is the last of its known failure in this cell, and all the others passed too."""
    if known.sometimes or not session.record.judges_all_of(known):
        return False
    both = (check.requirement.id, str(check.cell))
    chosen = [one for one in session.chosen if (one.requirement.id, str(one.cell)) == both]
    of_both = [one for one in chosen if known.names(one.case)]
    done = [one for one in session.record.results if (one.requirement, one.cell) == both and known.names(one.case)]
    judged = [one for one in done if one.verdict != "divergence"]
    return len(judged) == len(of_both) - 1 and all(one.verdict == "pass" for one in judged)
