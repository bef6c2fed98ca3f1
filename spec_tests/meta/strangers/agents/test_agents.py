"""Loops with several agents: each fault is named, and loops that are right in different ways fail nothing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from looptck.catalogue.requirements import catalogue
from looptck.values.verdicts import AGAINST, Result
from meta.strangers.playing import CONTROL, faults, require_playable, rows

HERE = Path(__file__).resolve().parent
TABLE: dict[str, dict[str, dict[str, Any]]] = yaml.safe_load((HERE / "table.yaml").read_text(encoding="utf-8"))
ROWS = {row.id for row in catalogue() if row.profile == "core" and {"handoffs", "subagents"} & {*row.needs}}


def test_all_loops_are_in_the_table() -> None:
    """The table has exactly the loops of the folder."""
    found = {"team.py:Driver"} | {
        f"{path.name}:{name}"
        for path in HERE.glob("*.py")
        for name in re.findall(r"^class (\w+)\(Driver\):", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    names = re.findall(r"^  '([\w-]+)': class", (HERE / "team.mjs").read_text(encoding="utf-8"), re.MULTILINE)
    found |= {f"team.mjs {name}" for name in ["", *names]}

    assert found == {*TABLE["right"], *TABLE["faulty"]}


@pytest.mark.parametrize(("loop", "entry"), TABLE["faulty"].items(), ids=TABLE["faulty"])
def test_the_fault_is_named(loop: str, entry: dict[str, Any]) -> None:
    """The row of the table fails, and says in these words what is wrong."""
    require_playable(loop)

    results = faults(f"{HERE.name}/{loop}", entry["cell"], {entry["named_by"]}, whole=True)

    assert {"pass"} == {one.verdict for one in results if one.requirement == CONTROL}
    failed = [one for one in results if one.verdict == "fail"]
    assert {entry["named_by"]} == {one.requirement for one in failed}
    assert [one for one in failed if entry["words"] in one.reason]


@pytest.mark.parametrize(("loop", "entry"), TABLE["right"].items(), ids=TABLE["right"])
def test_right_loops_fail_nothing(loop: str, entry: dict[str, Any]) -> None:
    """Of the rows of this theme none counts against it."""
    results = _played(loop, entry, {CONTROL, *ROWS})

    assert {} == {one.requirement: one.reason for one in results if one.verdict in {*AGAINST, "error"}}


def _played(loop: str, entry: dict[str, Any], requirements: set[str]) -> list[Result]:
    require_playable(loop)
    results = rows(f"{HERE.name}/{loop}", entry["cell"], requirements)
    assert {"pass"} == {one.verdict for one in results if one.requirement == CONTROL}
    return results
