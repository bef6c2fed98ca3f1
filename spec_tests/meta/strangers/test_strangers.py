"""Loops that were written without knowledge of the checks: faults are found, and correct loops fail nothing."""

from __future__ import annotations

import re

import pytest

from looptck.values.verdicts import AGAINST, Result
from meta.strangers.playing import CONTROL, HERE, Entry, faults, require_playable, table, whole

FAULTY, RIGHT = table()["faulty"], table()["right"]
LISTED = ("themes", "hits", "answers", "choices")
"""The folders of loops whose drivers are told by their class or fault, not by their file alone."""


def _failing(results: list[Result]) -> set[str]:
    return {result.requirement for result in results if result.verdict == "fail"}


@pytest.mark.parametrize(("loop", "entry"), FAULTY.items(), ids=FAULTY)
def test_fault_is_named(loop: str, entry: Entry) -> None:
    """Exactly the requirements that the table names fail."""
    require_playable(loop)
    wanted = [*entry.get("named_by", ()), *entry.get("noticed_by", ())]

    results = faults(loop, entry["cell"], {*wanted, *entry.get("missed_by", ())})

    assert not [result.reason for result in results if result.verdict == "error"]
    assert {"pass"} == {result.verdict for result in results if result.requirement == CONTROL}
    assert set(wanted) == _failing(results) - {CONTROL}


@pytest.mark.parametrize(("loop", "entry"), RIGHT.items(), ids=RIGHT)
def test_right_loop_fails_nothing(loop: str, entry: Entry) -> None:
    """Nothing in core counts against it except the rows in the table, which are never a MUST."""
    require_playable(loop)

    against = [one for one in whole(loop, entry["cell"]) if one.verdict in {*AGAINST, "error"}]

    assert {} == {one.requirement: one.reason for one in against if one.level == "MUST"}
    assert entry.get("but", {}).keys() == {one.requirement for one in against}


def test_all_loops_are_in_the_table() -> None:
    """Every loop of the folder is in the table, and is described in the FAULTS.md of its folder."""
    loops = {
        path.relative_to(HERE).as_posix(): path.name
        for path in [*HERE.glob("python/**/*.py"), *HERE.glob("javascript/*.mjs")]
        if path.name not in {"handlers.py", "driver.mjs", "sse.mjs"}
    }

    told = FAULTY.keys() | RIGHT.keys()
    assert loops.keys() == {
        loop.partition(".py:")[0] + ".py" * (".py:" in loop) for loop in told if not loop.startswith(LISTED)
    }
    for loop, name in loops.items():
        assert f"`{name}`" in (HERE / loop.partition("/")[0] / "FAULTS.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("folder", LISTED)
def test_all_that_is_listed_is_in_the_table(folder: str) -> None:
    """Each faulty loop that the README of the folder lists is in the table, and no other."""
    readme = (HERE / folder / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+\.py:Driver\w+|\w+\.mjs [\w-]+)` \|", readme, re.MULTILINE)

    assert sorted(f"{folder}/{loop}" for loop in listed) == sorted(loop for loop in FAULTY if loop.startswith(folder))


def test_each_fault_that_is_not_found_has_a_reason() -> None:
    """The table has a reason for each fault that no requirement finds."""
    assert [] == [loop for loop, entry in FAULTY.items() if bool(entry.get("named_by")) == bool(entry.get("because"))]
