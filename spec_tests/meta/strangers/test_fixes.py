"""Loops with the faults of public fixes: a right base in which a few lines are replaced."""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

import pytest

from meta.strangers.playing import CONTROL, Entry, faults_of, require_playable, rows_of
from meta.strangers.replacing import BASES, replaced, with_fault, written

FAULTS = replaced()
PLAYED = [fault for fault in FAULTS if fault.get("played")]
ROWS: dict[tuple[str, str], set[str]] = defaultdict(set)
"""What finds the faults that are played: base and cell → requirements."""
for one in PLAYED:
    ROWS[one["base"], one["cell"]] |= {*one["found_by"]}


def _driver(folder: Path, name: str, text: str) -> str:
    require_playable(name)
    return written(folder, name, text)


@pytest.mark.parametrize("fault", PLAYED, ids=[fault["name"] for fault in PLAYED])
def test_fault_is_found(fault: Entry, tmp_path: Path) -> None:
    """The rows of the table fail, and a call runs."""
    wanted = set(fault["found_by"])

    results = faults_of(_driver(tmp_path, fault["base"], with_fault(fault)), fault["cell"], wanted)

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


@pytest.mark.parametrize(("name", "mode"), [("messages_sdk.py", "sync"), ("messages_fetch.mjs", "async")])
def test_calls_decide_under_an_unknown_stop_reason(name: str, mode: str, tmp_path: Path) -> None:
    """A loop that runs every call of a turn, as the vendor's own runner does, fails no MUST under an unknown reason."""
    driver = _driver(tmp_path, name, (BASES / name).read_text(encoding="utf-8"))

    results = rows_of(driver, f"anthropic-messages/plain/{mode}", {"unknown-stop-reason-ends-the-loop"})

    assert {"pass"} == {one.verdict for one in results}


@pytest.mark.parametrize(
    ("problem", "verdict"),
    [('CutShort(f"unexpected stop reason {reply.stop_reason}")', "pass"), ("KeyError(reply.stop_reason)", "fail")],
    ids=["told", "crash"],
)
def test_unknown_stop_reason_may_be_an_error_in_words(problem: str, verdict: str, tmp_path: Path) -> None:
    """A loop that refuses a stop reason that it does not know, and says which, is right; a failed look-up is none."""
    name = "messages_sdk.py"
    text = (BASES / name).read_text(encoding="utf-8")
    refusal = '            if reply.stop_reason == "refusal":\n'
    strict = f'            if reply.stop_reason not in ("end_turn", "tool_use"):\n                raise {problem}\n'
    driver = _driver(tmp_path, name, text.replace(refusal, strict + refusal))

    results = rows_of(driver, "anthropic-messages/plain/sync", {"unknown-stop-reason-ends-the-loop"})

    sys.modules.pop(Path(name).stem, None)
    assert strict in (tmp_path / name).read_text(encoding="utf-8")
    assert {verdict} == {one.verdict for one in results}


def test_every_fault_can_be_made() -> None:
    """What the table replaces is in its base once, and each fault is found or has a reason why not."""
    for fault in FAULTS:
        assert with_fault(fault)
        assert bool(fault.get("found_by")) != bool(fault.get("missed_because")), fault["name"]
