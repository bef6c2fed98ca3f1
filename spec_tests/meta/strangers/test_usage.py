"""Loops that tell what a run has used: each fault is named, and loops that are right in different ways fail nothing."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from looptck.values.verdicts import Result
from meta.strangers.playing import CONTROL, HERE, faults, require_playable, rows

FOLDER = HERE / "usage"
TABLE: dict[str, dict[str, dict[str, Any]]] = yaml.safe_load((FOLDER / "table.yaml").read_text(encoding="utf-8"))
ROWS = (
    "usage-is-the-sum",
    "usage-is-asked-for",
    "cumulative-usage-counts-once",
    "usage-in-any-chunk-counts-once",
    "usage-of-a-run-is-its-own",
    "usage-may-be-missing",
    CONTROL,
)


def _judged(results: list[Result]) -> list[Result]:
    assert not [one.reason for one in results if one.verdict == "error"]
    assert {"pass"} == {one.verdict for one in results if one.requirement == CONTROL}
    return results


@pytest.mark.parametrize("loop", TABLE["faulty"])
def test_fault_is_named(loop: str) -> None:
    """The requirement of the table fails, and says in these words what is wrong."""
    require_playable(loop)
    entry = TABLE["faulty"][loop]

    results = _judged(faults(f"usage/{loop}", entry["cell"], {entry["named_by"]}, whole=True))
    failed = [one for one in results if one.verdict == "fail"]

    assert {entry["named_by"]} == {one.requirement for one in failed}
    assert [one for one in failed if entry["words"] in one.reason]


@pytest.mark.parametrize(
    ("loop", "cell"), [(loop, cell) for loop, how in TABLE["right"].items() for cell in how["cells"]]
)
def test_right_loop_fails_nothing(loop: str, cell: str) -> None:
    """Nothing counts against it but what the table allows."""
    require_playable(loop)

    results = _judged(rows(f"usage/{loop}", cell, ROWS))

    left = {one.requirement for one in results if one.verdict not in {"pass", "not-applicable"}}

    assert left <= {*TABLE["right"][loop].get("but", ())}


def test_all_loops_are_in_the_table() -> None:
    """Each class of a driver and each fault in JavaScript stands in it."""
    driver = r"^class (\w+)\((?:\w+\.)?Driver\w*\)"
    found = {path.name: re.findall(driver, path.read_text(), re.MULTILINE) for path in FOLDER.glob("*.py")}
    classes = {f"{file}:{name}" for file, names in found.items() for name in names}
    faults = re.findall(r"^  '?([\w-]+)'?: class extends Counted", (FOLDER / "chat.mjs").read_text(), re.MULTILINE)

    assert classes | {"chat.mjs", *(f"chat.mjs {one}" for one in faults)} == {*TABLE["faulty"], *TABLE["right"]}
