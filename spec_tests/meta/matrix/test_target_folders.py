"""The targets of this repository: every file belongs to one, and each driver says what it chooses."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from looptck.catalogue.known_failures import ANY, read
from looptck.catalogue.requirements import catalogue
from looptck.commands.matrix.command import TARGETS
from looptck.commands.matrix.targets import targets

COLUMNS = ["option", "what the driver does", "default or set", "why", "variant"]
KNOWN = targets(TARGETS)


def test_every_file_belongs_to_a_target() -> None:
    """No file of known failures is passed over for its name, and every target has a driver."""
    files = {*TARGETS.glob("*/known-failures*"), *TARGETS.glob("programs/*/known-failures*")}

    assert set() == files - {target.known_failures for target in KNOWN}
    assert [] == [target.name for target in KNOWN if not target.driver.is_file()]


FIRST = [target for target in KNOWN if target.variant is None]
FOLDERS = sorted({target.folder for target in FIRST})


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_driver_says_what_it_chooses(folder: Path) -> None:
    """Beside each driver is a table of its choices: what is set has a reason, and each variant changes one of them."""
    rows = _table(folder / "README.md")
    changed = [name for row in rows for name in re.findall("`(.*?)`", row["variant"])]
    unfounded = [row["option"] for row in rows if row["default or set"] == "set" and not row["why"]]

    assert {"default", "set"} == {row["default or set"] for row in rows}
    assert [] == unfounded
    assert set(_variants(folder)) == set(changed)


def _table(readme: Path) -> list[dict[str, str]]:
    lines = [line for line in readme.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]

    assert COLUMNS == cells[0]
    return [dict(zip(COLUMNS, row, strict=True)) for row in cells[1:]]


def _variants(folder: Path) -> dict[str, Any]:
    file = folder / "variants.yaml"
    return yaml.safe_load(file.read_text(encoding="utf-8")) if file.is_file() else {}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_variant_is_one(folder: Path) -> None:
    """A variant says what it is about, is one that the driver asks for, and has the ages of its target alone."""
    shared = list(folder.parent.glob(f"{folder.name.partition('_')[0]}_*.py"))
    source = "".join(path.read_text(encoding="utf-8") for path in [*folder.glob("driver.*"), *shared])
    source += "".join(f'"{path.stem.partition("@")[2]}"' for path in folder.glob("program@*.yaml"))
    ages = {target.age for target in FIRST if target.folder == folder}

    for name, one in _variants(folder).items():
        assert {"about"} == one.keys() - {"ages"}
        assert set(one.get("ages", [])) <= ages
        assert re.search(rf"""["']{name}["']""", source), name


REPORTS = sorted(TARGETS.glob("*/reports/*.md"))
HEADINGS = ["Versions", "What happens", "Where it comes from", "What would be right", "How to see it"]


@pytest.mark.parametrize("report", REPORTS, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_a_report_can_be_filed(report: Path) -> None:
    """It has the five parts, and a command for rows that the target is known to fail."""
    text = report.read_text(encoding="utf-8")
    folder = report.parents[1]
    shown = re.findall(r"--requirement ([a-z0-9-]+)", text)
    entries = [entry for path in folder.glob("known-failures*.yaml") for entry in read(path, catalogue())]

    assert text.startswith("# ")
    assert HEADINGS == re.findall(rf"^(?:## )?({'|'.join(HEADINGS)})\b", text, re.MULTILINE)
    assert f"looptck target {folder.name} " in text
    assert shown
    assert [] == [row for row in shown if not any(entry.requirement in {row, ANY} for entry in entries)]
