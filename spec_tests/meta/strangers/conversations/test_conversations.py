"""The table of these loops names all of them, and each loop speaks the protocol and answers a question."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from meta.strangers.playing import NODE, rows

HERE = Path(__file__).resolve().parent
TABLE: dict[str, dict[str, dict[str, Any]]] = yaml.safe_load((HERE / "table.yaml").read_text(encoding="utf-8"))
CONTROL = "call-runs-its-tool-once"
"""A requirement that every loop of the table meets."""


def _listed() -> set[str]:
    """All loops that the files of this folder define."""
    found = set()
    for path in HERE.glob("*.py"):
        names = re.findall(
            r"^class (\w+)(?:\(\w+\.Driver\))?:\n    \"\"\"", path.read_text(encoding="utf-8"), re.MULTILINE
        )
        found |= {f"{path.name}:{name}" for name in names if name == "Driver" or path.name in FAULTS}
    for path in (HERE / "chat.mjs", HERE / "messages.mjs"):
        names = re.findall(r"^  '([\w-]+)': \{", path.read_text(encoding="utf-8"), re.MULTILINE)
        found |= {f"{path.name} {name}" for name in ["", *names]}
    return found


FAULTS = {"next_turn.py", "given.py", "cancelling.py", "approving.py", "resuming.py", "sharing.py"}


def test_all_loops_are_in_the_table() -> None:
    """The table has exactly the loops of the folder."""
    assert _listed() == {*TABLE["right"], *TABLE["faulty"]}


@pytest.mark.parametrize(
    ("loop", "cell"),
    [(loop, entry["cells"].replace("*", "plain")) for loop, entry in TABLE["right"].items()]
    + [(loop, entry["cell"]) for loop, entry in TABLE["faulty"].items()],
)
def test_loop_runs_a_call(loop: str, cell: str) -> None:
    """A loop of the table runs a call once and answers, so that whatever fails later is its fault."""
    if ".mjs" in loop and NODE is None:
        pytest.skip("node is not installed, and this loop is in JavaScript")

    verdicts = {one.verdict for one in rows(f"{HERE.name}/{loop}", cell, {CONTROL})}

    assert {"pass"} == verdicts
