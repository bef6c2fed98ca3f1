"""Loops that were written without knowledge of the checks: faults are named, and right loops fail nothing.

What README.md says of ``table.yaml`` is what these tests do with it.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from looptck.bench.bench import Patience
from looptck.commands.pytest_run import run_pytest
from looptck.suite.options import Options
from looptck.suite.selection import Selection
from looptck.suite.session import Session
from looptck.values.verdicts import AGAINST, Result
from meta.strangers.playing import CONTROL, HERE, Entry, driver, entries, faults, require_playable, rows, whole

FAULTY, RIGHT = entries("faulty"), entries("right")
FOLDERS = sorted(path.parent for path in HERE.glob("*/table.yaml"))
ESCAPED = ["awaited-too-late", "thrown-in-a-timer"]
"""Faults of `escaping.mjs` that a trait tells of, and no requirement."""
ELSEWHERE = {f"escaping.mjs {fault}" for fault in ESCAPED} | {
    f"chat.py:{name}" for name in ("Early", "InOrder", "Later", "Undeclared")
}
"""Loops that tests of traits and of the smoke test play."""


def _told(results: list[Result]) -> dict[str, str | None]:
    return {one.requirement: one.reason for one in results}


@pytest.mark.parametrize(("loop", "entry"), FAULTY.items(), ids=FAULTY)
def test_fault_is_named(loop: str, entry: Entry) -> None:
    """The rows that name it fail, one in these words, and of the others only those of its entry count; a call runs."""
    require_playable(loop)
    named, noticed = {*entry.get("named_by", ())}, {*entry.get("noticed_by", ())}
    judged = {*named, *noticed, *entry.get("missed_by", ())}

    results = faults(loop, entry["cell"], judged, whole=entry.get("whole", False))
    failed = [one for one in results if one.verdict == "fail"]

    assert [] == [one.reason for one in results if one.verdict == "error"]
    assert {"pass"} == {one.verdict for one in results if one.requirement == CONTROL}
    if failed or not entry.get("raced"):
        assert named <= {one.requirement for one in failed}
        assert named | noticed == {one.requirement for one in results if one.verdict in AGAINST}
        assert not named or [one for one in failed if entry.get("words", "") in one.reason]


@pytest.mark.parametrize(("loop", "entry"), RIGHT.items(), ids=RIGHT)
def test_right_loop_fails_nothing(loop: str, entry: Entry) -> None:
    """Nothing counts against it but what the table allows, which is no MUST or is its SDK's; a call runs."""
    require_playable(loop)
    cells, known = entry.get("cells", [entry.get("cell")]), {*entry.get("known", ())}

    results = [one for cell in cells for one in _played(loop, cell, entry)]
    against = [one for one in results if one.verdict in {*AGAINST, "error"}]

    assert {} == _told([one for one in against if one.level == "MUST" and one.requirement not in known])
    assert {*entry.get("but", ()), *known} == {*_told(against)}
    assert {CONTROL, *entry.get("reached", ())} <= {one.requirement for one in results if one.verdict == "pass"}


def _played(loop: str, cell: str, entry: Entry) -> list[Result]:
    return rows(loop, cell, {CONTROL, *entry["rows"]}) if "rows" in entry else whole(loop, cell)


@pytest.mark.parametrize("fault", ESCAPED)
def test_error_that_escapes_is_told(fault: str) -> None:
    """An error that no caller can catch has ended the process: it is the outcome of its run, and no driver fault."""
    require_playable("escaping.mjs")
    selection = Selection(cells=("openai-chat/plain/async",), traits=("error-beside-a-running-call",))
    session = Session.begin(Options(driver(f"odd/escaping.mjs {fault}"), selection, patience=Patience(20.0, 2.0)))
    run_pytest(session)
    session.end()

    assert ["error-for-nobody"] == [one.answer for one in session.survey.answers]
    assert [] == session.record.faults


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_all_loops_are_in_the_table(folder: Path) -> None:
    """A class that no other code names is in the table, and so is each fault in JavaScript, and a file of one loop."""
    played = {loop.partition(f"{folder.name}/")[2] for loop in (*FAULTY, *RIGHT)}
    files = [path for path in folder.glob("*.*") if path.suffix in {".py", ".mjs"}]

    found = {f"{path.name}:{name}" for path in files for name in _classes(path) - _named() - {"Driver"}}
    found |= {f"{path.name} {name}" for path in files for name in _slips(path)}
    found |= {path.name for path in files if folder.name in {"javascript", "odd", "python"} and not _is_shared(path)}

    assert found <= ELSEWHERE | played | {loop.partition(":")[0] for loop in played}


def _classes(path: Path) -> set[str]:
    if path.suffix != ".py":
        return set()
    return {one.name for one in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(one, ast.ClassDef)}


@cache
def _named() -> set[str]:
    """What the code of all loops names."""
    nodes = [one for path in HERE.glob("*/*.py") for one in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    names = {one.id for one in nodes if isinstance(one, ast.Name)}
    return names | {one.attr for one in nodes if isinstance(one, ast.Attribute)}


def _slips(path: Path) -> list[str]:
    """The names that a program in JavaScript has for its faults."""
    if path.suffix != ".mjs":
        return []
    text = path.read_text(encoding="utf-8")
    blocks = re.findall(r"^const (?:FAULTS|SLIPS|CONNECTIONS)\b.*?^\};", text, re.MULTILINE | re.DOTALL)
    return [name for block in blocks for name in re.findall(r"^  '?([a-z][\w-]*)'?(?:: |\()", block, re.MULTILINE)]


def _is_shared(path: Path) -> bool:
    return path.name in {"handlers.py", "driver.mjs", "sse.mjs"}


def test_each_fault_that_is_not_found_has_a_reason() -> None:
    """The tables have a reason for each fault that no requirement finds."""
    assert [] == [loop for loop, entry in FAULTY.items() if bool(entry.get("named_by")) == bool(entry.get("because"))]
