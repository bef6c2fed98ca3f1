"""The package for drivers in JavaScript: its own tests, its types, and loops that are judged through it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from looptck import driver
from meta.docs.pages import ROOT
from meta.drivers.bench import judged
from tools.javascript_types.types import written

PACKAGE = ROOT / "drivers" / "javascript"
DRIVER = Path(__file__).with_name("chat_driver.mjs")
CELLS = ("openai-chat/plain/async", "openai-chat/stream/async")
ORDINARY = (
    "call-runs-its-tool-once",
    "limit-is-a-ceiling",
    "concurrent-runs-do-not-leak",
    "conversation-is-carried-once",
    "no-request-is-refused",
)
CANCELLED = ("cancelled-run-ends", "next-turn-after-a-cancel-is-accepted")

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")


@needs_node
def test_the_tests_of_the_package_pass() -> None:
    """They are run by Node.js itself."""
    command = ["node", "--test", str(PACKAGE / "looptck-driver.test.mjs")]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)

    assert 0 == ran.returncode, ran.stdout + ran.stderr


def test_the_types_are_those_of_the_schemas() -> None:
    """The declarations are what the generator writes today."""
    declarations = (PACKAGE / "looptck-driver.d.mts").read_text(encoding="utf-8")

    assert written(declarations) == declarations


def test_the_names_are_those_of_the_helpers_in_python() -> None:
    """Both have the same helpers, and each has a type."""
    exported = r"^export (?:async )?(?:function|const|class) (\w+)"
    module = (PACKAGE / "looptck-driver.mjs").read_text(encoding="utf-8")
    declarations = (PACKAGE / "looptck-driver.d.mts").read_text(encoding="utf-8")
    names = {*re.findall(exported, module, re.MULTILINE)}

    assert names == {*re.findall(exported, declarations, re.MULTILINE)}
    assert {"serve"} == names - {*driver.__all__}
    assert {"run_tool"} == {name for name in {*driver.__all__} - names if name.islower()}


def test_the_package_has_its_files() -> None:
    """What it names is there, and its version is that of the project."""
    about = json.loads((PACKAGE / "package.json").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert set() == {*about["files"]} - {path.name for path in PACKAGE.iterdir()}
    assert {f"./{name}" for name in about["files"]} == {*about["exports"]["."].values(), about["exports"]["./zod"]}
    assert project["version"] == about["version"]


@needs_node
@pytest.mark.parametrize(("way", "rows"), [("", ORDINARY + CANCELLED), ("throws-when-cancelled", CANCELLED)])
def test_a_loop_is_judged(way: str, rows: tuple[str, ...]) -> None:
    """A loop passes through it, whether its driver makes an outcome of a cancellation or leaves that to the package."""
    report = judged(f"cmd:node {DRIVER} {way}", *rows, cells=CELLS)

    assert (0, []) == (report.status, report.late), report.printed
    assert {"pass"} == {*report.counts} - {"not-applicable"}


@needs_node
def test_a_run_that_does_not_hear_the_signal_is_found() -> None:
    """The package does not make a cancelled run of one that goes on."""
    report = judged(f"cmd:node {DRIVER} ignores-the-signal", *CANCELLED, cells=CELLS[:1])

    assert report.counts["fail"]
