"""Loops whose tools return images: each fault is named, and right loops fail nothing, wherever they put an image."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from looptck.catalogue.requirements import catalogue
from looptck.values.verdicts import AGAINST
from meta.strangers.playing import CONTROL, faults, require_playable, rows

HERE = Path(__file__).resolve().parent
TABLE: dict[str, dict[str, dict[str, Any]]] = yaml.safe_load((HERE / "table.yaml").read_text(encoding="utf-8"))
ROWS = {row.id for row in catalogue() if row.profile == "core" and "parts" in row.needs}


def test_all_loops_are_in_the_table() -> None:
    """The table has exactly the loops of the folder."""
    found = {
        f"{path.name}:{name}"
        for path in HERE.glob("*.py")
        for name in re.findall(r"^class (\w+)\(\w+\):", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    names = re.findall(r"^  '([\w-]+)': class", (HERE / "loops.mjs").read_text(encoding="utf-8"), re.MULTILINE)
    found |= {f"loops.mjs {name}" for name in ["", *names]}

    assert found == {*TABLE["right"], *TABLE["faulty"]}


@pytest.mark.parametrize(("loop", "entry"), TABLE["faulty"].items(), ids=TABLE["faulty"])
def test_the_fault_is_named(loop: str, entry: dict[str, Any]) -> None:
    """These rows fail; the loop runs a call and answers, so that this is its fault alone."""
    require_playable(loop)

    results = faults(f"{HERE.name}/{loop}", entry["cell"], entry["named_by"])

    assert {"pass"} == {one.verdict for one in results if one.requirement == CONTROL}
    assert set(entry["named_by"]) == {one.requirement for one in results if one.verdict in {"fail", "error"}}


@pytest.mark.parametrize(("loop", "entry"), TABLE["right"].items(), ids=TABLE["right"])
def test_right_loops_fail_nothing(loop: str, entry: dict[str, Any]) -> None:
    """Of the rows of this theme none counts against it, except those that the table has, which are no MUST."""
    require_playable(loop)

    results = rows(f"{HERE.name}/{loop}", entry["cell"], {CONTROL, *ROWS})

    against = [one for one in results if one.verdict in {*AGAINST, "error"}]
    assert {} == {one.requirement: one.reason for one in against if one.level == "MUST"}
    assert entry.get("but", {}).keys() == {one.requirement for one in against}
