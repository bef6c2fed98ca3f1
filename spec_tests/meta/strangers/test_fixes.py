"""Loops with the faults of public fixes: a right base in which a few lines are replaced."""

from __future__ import annotations

import shutil
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
import yaml

from meta.strangers.playing import CONTROL, HERE, NODE, faults_of, rows_of

FIXES = HERE / "fixes"
BASES = FIXES / "bases"
SHARED = (BASES / "sse.py", BASES / "sse.mjs", HERE.parents[2] / "drivers" / "javascript" / "looptck-driver.mjs")
FAULTS: list[dict[str, Any]] = yaml.safe_load((FIXES / "faults.yaml").read_text(encoding="utf-8"))
PLAYED = [fault for fault in FAULTS if fault.get("played")]
ROWS: dict[tuple[str, str], set[str]] = defaultdict(set)
"""What finds the faults that are played: base and cell → requirements."""
for one in PLAYED:
    ROWS[one["base"], one["cell"]] |= {*one["found_by"]}


def _with_fault(fault: dict[str, Any]) -> str:
    """The source of the base with its fault."""
    text: str = (BASES / fault["base"]).read_text(encoding="utf-8")
    for edit in fault["edits"]:
        assert 1 == text.count(edit["old"]), f"{fault['name']}: {edit['old']!r}"
        text = text.replace(edit["old"], edit["new"])
    return text


def _driver(folder: Path, base: str, text: str) -> str:
    for shared in SHARED:
        shutil.copy(shared, folder)
    (folder / base).write_text(text, encoding="utf-8")
    if base.endswith(".mjs"):
        if NODE is None:
            pytest.skip("node is not installed, and this loop is in JavaScript")
        return f"cmd:{NODE} {folder / base}"
    return f"python:{folder / base}:Driver"


@pytest.mark.parametrize("fault", PLAYED, ids=[fault["name"] for fault in PLAYED])
def test_fault_is_found(fault: dict[str, Any], tmp_path: Path) -> None:
    """The rows of the table fail, and a call runs."""
    wanted = set(fault["found_by"])

    results = faults_of(_driver(tmp_path, fault["base"], _with_fault(fault)), fault["cell"], wanted)

    sys.modules.pop(Path(fault["base"]).stem, None)
    assert {"pass"} == {one.verdict for one in results if one.requirement == CONTROL}
    assert wanted == {one.requirement for one in results if one.verdict == "fail"}


@pytest.mark.parametrize(("base", "cell"), ROWS, ids=["-".join(one) for one in ROWS])
def test_base_passes(base: str, cell: str, tmp_path: Path) -> None:
    """A base without its faults passes all rows that find them."""
    text = (BASES / base).read_text(encoding="utf-8")

    results = rows_of(_driver(tmp_path, base, text), cell, ROWS[base, cell])

    sys.modules.pop(Path(base).stem, None)
    assert ROWS[base, cell] == {one.requirement for one in results if one.verdict == "pass"}
    assert {"pass", "not-applicable"} >= {one.verdict for one in results}


@pytest.mark.parametrize(("base", "mode"), [("messages_sdk.py", "sync"), ("messages_fetch.mjs", "async")])
def test_calls_decide_under_an_unknown_stop_reason(base: str, mode: str, tmp_path: Path) -> None:
    """A loop that runs every call of a turn, as the vendor's own runner does, fails no MUST under an unknown reason."""
    driver = _driver(tmp_path, base, (BASES / base).read_text(encoding="utf-8"))

    results = rows_of(driver, f"anthropic-messages/plain/{mode}", {"unknown-stop-reason-ends-the-loop"})

    assert {"pass"} == {one.verdict for one in results}


@pytest.mark.parametrize(
    ("problem", "verdict"),
    [('CutShort(f"unexpected stop reason {reply.stop_reason}")', "pass"), ("KeyError(reply.stop_reason)", "fail")],
    ids=["told", "crash"],
)
def test_unknown_stop_reason_may_be_an_error_in_words(problem: str, verdict: str, tmp_path: Path) -> None:
    """A loop that refuses a stop reason that it does not know, and says which, is right; a failed look-up is none."""
    base = "messages_sdk.py"
    text = (BASES / base).read_text(encoding="utf-8")
    refusal = '            if reply.stop_reason == "refusal":\n'
    strict = f'            if reply.stop_reason not in ("end_turn", "tool_use"):\n                raise {problem}\n'
    driver = _driver(tmp_path, base, text.replace(refusal, strict + refusal))

    results = rows_of(driver, "anthropic-messages/plain/sync", {"unknown-stop-reason-ends-the-loop"})

    sys.modules.pop(Path(base).stem, None)
    assert strict in (tmp_path / base).read_text(encoding="utf-8")
    assert {verdict} == {one.verdict for one in results}


def test_every_fault_can_be_made() -> None:
    """What the table replaces is in its base once, and each fault is found or has a reason why not."""
    for fault in FAULTS:
        assert _with_fault(fault)
        assert bool(fault.get("found_by")) != bool(fault.get("missed_because")), fault["name"]
