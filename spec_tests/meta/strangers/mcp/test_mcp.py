"""Loops that are clients of MCP servers: each fault is named, and right loops fail nothing, the official SDK's too."""

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
ROWS = {row.id for row in catalogue() if row.profile == "core" and "mcp_client" in row.needs}


def test_all_loops_are_in_the_table() -> None:
    """The table has exactly the loops of the folder."""
    found = {
        f"{path.name}:{name}"
        for path in HERE.glob("*.py")
        for name in re.findall(
            r"^class ([A-Z]\w+)(?:\((?:Loop|Prefixed|Stateless)\))?:", path.read_text(encoding="utf-8"), re.MULTILINE
        )
        if path.name != "client.py" and name not in {"Official", "Talker"}
    }
    written = "".join(path.read_text(encoding="utf-8") for path in HERE.glob("*.mjs"))
    names = re.findall(r"^  '([\w-]+)': (?:class|Stateless)", written, re.MULTILINE)
    found |= {f"loops.mjs {name}" for name in ["", *names]}

    assert found == {*TABLE["right"], *TABLE["faulty"]}


@pytest.mark.parametrize(("loop", "entry"), TABLE["faulty"].items(), ids=TABLE["faulty"])
def test_the_fault_is_named(loop: str, entry: dict[str, Any]) -> None:
    """Each of these rows fails; a call runs and is answered, so that is its fault."""
    require_playable(loop)

    results = faults(f"{HERE.name}/{loop}", entry["cell"], entry["named_by"])

    assert {"pass"} == {one.verdict for one in results if one.requirement == CONTROL}
    failed = {one.requirement for one in results if one.verdict in {"fail", "error"}}
    assert set(entry["named_by"]) == failed


@pytest.mark.parametrize(("loop", "entry"), TABLE["right"].items(), ids=TABLE["right"])
def test_right_loops_fail_nothing(loop: str, entry: dict[str, Any]) -> None:
    """Of the rows of this theme none counts against it, except those that the table has."""
    require_playable(loop)

    results = rows(f"{HERE.name}/{loop}", entry["cell"], {CONTROL, *ROWS})

    against = {one.requirement: one.reason for one in results if one.verdict in {*AGAINST, "error"}}
    assert entry.get("but", {}).keys() == against.keys(), against
