"""Faults that are a few replaced lines of a right loop: the table of ``fixes``, and files with such a fault."""

from __future__ import annotations

import shutil
from pathlib import Path

import yaml

from meta.strangers.playing import HERE, NODE, Entry

FIXES = HERE / "fixes"
BASES = FIXES / "bases"
SHARED = (BASES / "sse.py", BASES / "sse.mjs", HERE.parents[2] / "drivers" / "javascript" / "looptck-driver.mjs")
"""What the bases import."""


def replaced() -> list[Entry]:
    """The faults of ``faults.yaml``."""
    faults: list[Entry] = yaml.safe_load((FIXES / "faults.yaml").read_text(encoding="utf-8"))
    return faults


def with_fault(fault: Entry) -> str:
    """The source of the loop with its fault."""
    text: str = (BASES / fault["base"]).read_text(encoding="utf-8")
    for edit in fault["edits"]:
        assert 1 == text.count(edit["old"]), f"{fault['name']}: {edit['old']!r}"
        text = text.replace(edit["old"], edit["new"])
    return text


def written(folder: Path, name: str, text: str) -> str:
    """The driver of a loop that is written to a folder under the name of its base."""
    folder.mkdir(exist_ok=True)
    for shared in SHARED:
        shutil.copy(shared, folder)
    (folder / name).write_text(text, encoding="utf-8")
    return f"cmd:{NODE} {folder / name}" if name.endswith(".mjs") else f"python:{folder / name}:Driver"
