"""Loops whose caller wants an output of a schema: each fault is named, and right readings fail nothing."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from looptck.catalogue.requirements import catalogue
from looptck.values.verdicts import Result
from meta.strangers.playing import CONTROL, HERE, faults, require_playable, rows

FOLDER = HERE / "outputs"
TABLE: dict[str, dict[str, dict[str, Any]]] = yaml.safe_load((FOLDER / "table.yaml").read_text(encoding="utf-8"))
ROWS = [CONTROL, *(row.id for row in catalogue().profiles["core"].requirements if "output" in row.needs)]


def _runs_a_call(results: list[Result]) -> bool:
    return {"pass"} == {one.verdict for one in results if one.requirement == CONTROL}


@pytest.mark.parametrize("loop", TABLE["faulty"])
def test_fault_is_named(loop: str) -> None:
    """The requirement of the table fails, and says in these words what is wrong."""
    require_playable(loop)
    entry = TABLE["faulty"][loop]

    results = faults(f"outputs/{loop}", entry["cell"], {entry["named_by"]})

    assert _runs_a_call(results)
    reasons = [one.reason or "" for one in results if (one.requirement, one.verdict) == (entry["named_by"], "fail")]
    assert any(entry["words"] in reason for reason in reasons)


@pytest.mark.parametrize(
    ("loop", "cell"), [(loop, cell) for loop, how in TABLE["right"].items() for cell in how["cells"]]
)
def test_right_loop_fails_nothing(loop: str, cell: str) -> None:
    """Nothing counts against it."""
    require_playable(loop)

    results = rows(f"outputs/{loop}", cell, ROWS)

    assert _runs_a_call(results)
    assert [] == [
        f"{one.requirement}: {one.reason}" for one in results if one.verdict not in {"pass", "not-applicable"}
    ]


def test_all_loops_are_in_the_table() -> None:
    """Each class of a driver stands in it."""
    driver = r"^class (\w+)\((?:\w+\.)?Driver\w*\)"
    named = {path.name: re.findall(driver, path.read_text(), re.MULTILINE) for path in FOLDER.glob("*.py")}
    classes = {f"{file}:{name}" for file, names in named.items() for name in names}

    assert classes == {loop for loop in {*TABLE["faulty"], *TABLE["right"]} if ".py:" in loop}
