"""Loops that go on with conversations: each fault is named, and right loops fail nothing, whatever they choose."""

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


def _listed() -> set[str]:
    """All loops that the files of this folder define."""
    found = set()
    for path in HERE.glob("*.py"):
        names = re.findall(
            r"^class (\w+)(?:\(\w+\.Driver\))?:\n    \"\"\"", path.read_text(encoding="utf-8"), re.MULTILINE
        )
        found |= {f"{path.name}:{name}" for name in names if name == "Driver" or path.name in {*FAULTS, CHOICES}}
    for path in (HERE / "chat.mjs", HERE / "messages.mjs"):
        names = re.findall(r"^  '([\w-]+)': \{", path.read_text(encoding="utf-8"), re.MULTILINE)
        found |= {f"{path.name} {name}" for name in ["", *names]}
    return found


CHOICES = "choosing.py"
"""Right loops that choose otherwise than the one that they are made of."""
FAULTS = {"next_turn.py", "given.py", "cancelling.py", "approving.py", "resuming.py", "sharing.py"}


def test_all_loops_are_in_the_table() -> None:
    """The table has exactly the loops of the folder."""
    assert _listed() == {*TABLE["right"], *TABLE["faulty"]}


@pytest.mark.parametrize(("loop", "entry"), TABLE["faulty"].items(), ids=TABLE["faulty"])
def test_the_fault_is_named(loop: str, entry: dict[str, Any]) -> None:
    """The row that names it fails; the loop runs a call and answers, so that this is its fault alone."""
    require_playable(loop)
    named = entry["named_by"][:1]

    results = faults(f"{HERE.name}/{loop}", entry["cell"], named)

    assert {"pass"} == {one.verdict for one in results if one.requirement == CONTROL}
    found = {one.requirement for one in results if one.verdict in AGAINST}
    assert found == set(named) or (entry.get("raced") and not found)


@pytest.mark.parametrize("loop", TABLE["right"])
def test_right_loops_fail_nothing(loop: str) -> None:
    """Of the rows of these themes none counts against it."""
    require_playable(loop)
    cell = TABLE["right"][loop]["cells"].replace("*", "stream")

    results = rows(f"{HERE.name}/{loop}", cell, {CONTROL, *_rows_of_these_themes()})

    assert [] == [f"{one.requirement}: {one.reason}" for one in results if one.verdict in {*AGAINST, "error"}]


def test_each_fault_that_is_not_named_has_a_reason() -> None:
    """The table has a reason for each fault that no row names."""
    assert [] == [
        loop for loop, entry in TABLE["faulty"].items() if bool(entry["named_by"]) == bool(entry.get("because"))
    ]


def _rows_of_these_themes() -> set[str]:
    """All requirements that need one of these capabilities."""
    words = {"conversations", "histories", "shared", "cancel", "leave", "confirm", "suspend"}
    return {row.id for row in catalogue() if row.profile == "core" and words & set(row.needs)}
