"""Known failures: they excuse what they name, and go stale loudly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from looptck.catalogue.known_failures import Known, read
from looptck.catalogue.requirements import catalogue
from looptck.catalogue.yaml_files import BadFile
from looptck.suite.options import Options
from looptck.suite.session import Session
from looptck.suite.summary import stale
from looptck.values.cell import Cell
from looptck.values.verdicts import Result
from meta.drivers.bench import PLAIN, judged

FLAWED = "python:meta.kit.flawed:TakesCallsForAnswers"
CALLS = "call-runs-its-tool-once"
CELL = Cell.parse(PLAIN)
REASON = "this loop was never meant to run tools"


@pytest.fixture(name="file")
def _file(tmp_path: Path) -> Path:
    return tmp_path / "known.yaml"


def entry(cell: str = "*", requirement: str = CALLS, reason: str = REASON) -> dict[str, str]:
    """An entry of the file."""
    return {"requirement": requirement, "cell": cell, "reason": reason}


def write(path: Path, *entries: object) -> Path:
    """A file of these entries; JSON is YAML."""
    path.write_text(json.dumps(entries), "utf-8")
    return path


@pytest.mark.parametrize("cell", ["*", "*/plain/*", "openai-chat/plain/sync"])
def test_a_known_failure_is_excused(file: Path, cell: str) -> None:
    """A failure that an entry covers is told as what it is, and does not fail the run."""
    report = judged(FLAWED, CALLS, known=write(file, entry(cell)))

    assert (0, {"fail": 3}) == (report.status, report.counts)
    assert [] == report.json["stale_known_failures"]


def test_a_known_case_is_excused_and_no_other(file: Path) -> None:
    """An entry that names a case, with ``*`` for anything, leaves the other cases of its requirement as they are."""
    named = judged(FLAWED, CALLS, known=write(file, {**entry(), "case": "empty-object*"}))
    one = judged(FLAWED, CALLS, known=file, cases=("empty-object",))

    assert (1, {"fail": 3}) == (named.status, named.counts)
    assert "cases: one-call, one-call@llama.cpp (2 fail)" in named.printed
    assert "empty-object" not in named.printed
    assert (0, {"fail": 1}) == (one.status, one.counts)


@pytest.mark.parametrize(
    ("pattern", "case", "covered"),
    [
        (None, "any-case", True),
        ("one-call", "one-call", True),
        ("one-call", "one-call-more", False),
        ("one-*", "one-call", True),
        ("limit[1]", "limit[1]", True),
        ("limit[1]", "limit1", False),
        ("limit[*]", "limit[10]", True),
        ("a?", "ab", False),
    ],
)
def test_only_the_star_is_special_in_a_case(pattern: str | None, case: str, covered: bool) -> None:
    """Names of cases hold brackets, which stand for themselves."""
    assert covered == Known(CALLS, "*", REASON, pattern).covers(CALLS, CELL, case)


def test_an_entry_of_several_requirements_is_one_for_each(file: Path) -> None:
    """Each of them goes stale by itself."""
    write(file, {**entry(), "requirement": [CALLS, "answer-without-calls-ends-the-loop"]})

    report = judged(FLAWED, CALLS, known=file)
    stale = judged(None, CALLS, known=file, cells=("*",))

    assert (0, {"fail": 3}) == (report.status, report.counts)
    assert [True] == [one.startswith(f"{CALLS} in *: ") for one in stale.json["stale_known_failures"]]


def test_a_failure_that_comes_and_goes_is_known_by_its_message(file: Path) -> None:
    """In whatever requirement it is met; a failure with another message is none of it."""
    often = {**entry(requirement="*"), "sometimes": True}
    known = judged(FLAWED, CALLS, known=write(file, {**often, "because": "*actual tool runs: none"}))
    other = judged(FLAWED, CALLS, known=write(file, {**often, "because": "liveness: *"}))
    passing = judged(None, CALLS, known=file)

    assert (0, {"fail": 3}) == (known.status, known.counts), known.printed
    assert (1, {"fail": 3}) == (other.status, other.counts)
    assert (0, []) == (passing.status, passing.json["stale_known_failures"])


@pytest.mark.parametrize("wrong", [{}, {"because": "liveness: *"}, {"sometimes": True}])
def test_any_requirement_is_for_failures_that_come_and_go(file: Path, wrong: dict[str, object]) -> None:
    """An entry for all of them needs a message, and one with a message says that it is met at times."""
    with pytest.raises(BadFile):
        read(write(file, {**entry(requirement="*"), **wrong}), catalogue())


def test_a_known_case_that_passes_is_stale(file: Path) -> None:
    """While other cases of its requirement may fail; and a case that there is not is no case of the run."""
    write(file, {**entry(), "case": "one-call"}, {**entry(), "case": "no-such-case"})
    whole = judged(None, CALLS, known=file, cells=("*",))
    alone = judged(None, CALLS, known=file, cells=("*",), cases=("one-call",))

    told = f"{CALLS} in *, case one-call: passes now; remove it from the known failures ({REASON})"
    assert [told] == whole.json["stale_known_failures"]
    assert [told] == alone.json["stale_known_failures"]


def test_a_known_failure_excuses_nothing_else(file: Path) -> None:
    """A failure in another cell, or of another requirement, fails the run as ever."""
    elsewhere = judged(FLAWED, CALLS, known=write(file, entry("*/stream/*")))
    other = judged(FLAWED, CALLS, "calls-are-echoed", known=write(file, entry()))

    assert 1 == elsewhere.status
    assert 1 == other.status


def test_a_known_failure_that_passes_is_stale(file: Path) -> None:
    """An entry whose requirement passes by now fails the run, and says that it has to go."""
    report = judged(None, CALLS, cells=("*",), known=write(file, entry()))

    assert (1, {"pass": 34}) == (report.status, report.counts)
    (told,) = report.json["stale_known_failures"]
    assert told.startswith(f"{CALLS} in *: passes now; remove it")
    assert f"stale known failure: {told}" in report.printed


def test_what_fails_at_times_is_not_stale(file: Path) -> None:
    """An entry that says so excuses failures, and may pass; one that no check matches is stale all the same."""
    at_times = {**entry(), "sometimes": True}
    passing = judged(None, CALLS, cells=("*",), known=write(file, at_times))
    failing = judged(FLAWED, CALLS, known=file)

    assert (0, []) == (passing.status, passing.json["stale_known_failures"])
    assert 0 == failing.status


def test_a_run_of_a_part_does_not_call_an_entry_stale(file: Path) -> None:
    """Where a case or a cell that an entry covers was left out, what passes does not make the entry stale."""
    write(file, entry())
    one_case = judged(None, CALLS, cases=("one-call",), known=file)
    one_cell = judged(None, CALLS, cells=("openai-chat/plain/sync",), known=write(file, entry("openai-chat/plain/*")))
    all_cells = judged(None, CALLS, cells=("openai-chat/plain/*",), known=file)

    assert (0, []) == (one_case.status, one_case.json["stale_known_failures"])
    assert (0, []) == (one_cell.status, one_cell.json["stale_known_failures"])
    assert (1, 1) == (all_cells.status, len(all_cells.json["stale_known_failures"]))


def test_a_case_that_was_left_out_may_be_noticed(file: Path) -> None:
    """A requirement may be noticed to fail in a check of another one: what was left out of its case keeps the entry."""
    session = Session.begin(Options(known_failures=write(file, entry())))
    session.end()
    record = session.record
    noticed = Known("no-request-is-refused", "openai-chat/*/*", REASON, "odd[early]")
    before = record.judges_all_of(noticed)
    record.left_out = [("incomplete-telling-loses-no-call", PLAIN, "odd[early]")]

    assert [True, False] == [before, record.judges_all_of(noticed)]


def test_an_interrupted_run_calls_no_entry_stale(file: Path) -> None:
    """A check that an entry covers may be among those that have no verdict, so what passes says nothing of it."""
    session = Session.begin(Options(known_failures=write(file, entry("openai-chat/plain/*"))))
    session.end()
    record = session.record
    record.add(Result(CALLS, "core", "MUST", PLAIN, "one-call", "pass"))
    record.checks = record.judged
    whole = stale(record)
    record.checks += 1

    assert [1, 0] == [len(whole), len(stale(record))]


def test_an_error_does_not_make_an_entry_stale(file: Path) -> None:
    """A check that could not be judged says nothing about whether a known failure still fails."""
    from meta.drivers.bench import process

    report = judged(process("Crashes", only="one-call"), CALLS, known=write(file, entry()))

    assert (1, {"pass": 2, "error": 1}) == (report.status, report.counts)
    assert [] == report.json["stale_known_failures"]


def test_an_error_is_reported_though_an_entry_covers_its_check(file: Path) -> None:
    """No entry excuses a check that could not be judged, so the report says why it could not."""
    from meta.drivers.bench import process

    report = judged(process("Crashes", only="one-call"), CALLS, known=write(file, entry()))

    (one,) = (result for result in report.json["results"] if result["verdict"] == "error")
    assert "known" not in one
    assert "because: driver: crashed" in report.printed


def test_an_entry_about_nothing_is_stale(file: Path) -> None:
    """In a whole run, an entry that no check of it concerns has to go."""
    session = Session.begin(Options(known_failures=write(file, entry("anthropic-messages/plain/sync"))))
    session.end()

    assert [f"{CALLS} in anthropic-messages/plain/sync: no check of this run matches it"] == [
        told.partition(";")[0] for told in stale(session.record)
    ]


def test_no_entries_are_fine(file: Path) -> None:
    """A file without entries excuses nothing and disturbs no one."""
    assert 0 == judged(None, CALLS, known=write(file)).status


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (json.dumps([entry(requirement="no-such-rule")]), "there is no requirement 'no-such-rule'"),
        (json.dumps([entry(requirement="call-runs-its-tool-one")]), f"did you mean {CALLS}"),
        (json.dumps([{"requirement": CALLS, "cell": "*"}]), '/0: "reason" is a required property'),
        (json.dumps([entry(reason="todo")]), "/0/reason"),
        ("calls: fail", "write a list of entries, each with `requirement`, `cell` and a `reason`"),
        (json.dumps([entry("plain")]), "/0/cell"),
        (json.dumps([{**entry(), "owner": "me"}]), "'owner'"),
        (json.dumps(entry()), "is not of type"),
        ("- requirement: [", "is not the YAML that was meant"),
        ("- {requirement: a, cell: '*', cell: '*', reason: see the tracker}", "duplicate key 'cell'"),
        ("- {requirement: a, cell: '*', reason: 2024-01-01}", "holds what JSON cannot"),
        ("- {? [a] : b}", "a key is a list or mapping"),
        (None, "cannot be read"),
    ],
)
def test_a_bad_file_ends_the_run(file: Path, text: str | None, told: str) -> None:
    """A file that is not what it should be ends the run with exit status 2, its own name, and the place."""
    if text is not None:
        file.write_text(text, "utf-8")

    report = judged(None, CALLS, known=file)

    assert (2, {}) == (report.status, report.json)
    assert f"looptck could not run: {file}: " in report.printed
    assert told in report.printed
