"""Runs the suite on a strange loop: named requirements as ``looptck kill``, or all of core as ``looptck run``."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from looptck.bench.bench import Patience
from looptck.catalogue.requirements import catalogue
from looptck.commands.kill.plan import Planned, chosen, plan
from looptck.commands.kill.playing import play
from looptck.commands.pytest_run import run_pytest
from looptck.suite.options import Options
from looptck.suite.selection import Selection
from looptck.suite.session import Session
from looptck.values.verdicts import Result

HERE = Path(__file__).resolve().parent
NODE = shutil.which("node")
CORE = "core"
CONTROL = "call-runs-its-tool-once"
"""A requirement that every loop here meets, so that what it fails is its fault alone."""

Entry = dict[str, Any]


def entries(kind: str) -> dict[str, Entry]:
    """The loops of all folders that are ``faulty`` or ``right``, each with its entry in the table of its folder."""
    found: dict[str, Entry] = {}
    for path in sorted(HERE.glob("*/table.yaml")):
        told: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
        near = _near(told.get("rows", ()), told.get("needs", ()))
        general = {"reached": told.get("reached", ())} | ({"rows": near} if near else {})
        for loop, entry in told.get(kind, {}).items():
            found[f"{path.parent.name}/{loop}"] = general | entry
    return found


def _near(named: Collection[str], needs: Collection[str]) -> list[str]:
    """These requirements, and those of core that need one of these capabilities."""
    core = catalogue().profiles[CORE].requirements
    return [*named, *(row.id for row in core if {*needs} & {*row.needs})]


def driver(loop: str) -> str:
    """The driver of a loop: a file in this folder, with its class, or with the name of its fault in JavaScript."""
    if ".mjs" in loop:
        return f"cmd:{NODE} {HERE / loop}".rstrip()
    return f"python:{HERE / loop}" if ":" in loop else f"python:{HERE / loop}:Driver"


def require_playable(loop: str) -> None:
    """Skip the test of a loop in JavaScript where Node.js is not installed."""
    if ".mjs" in loop and NODE is None:
        pytest.skip("node is not installed, and this loop is in JavaScript")


def rows(loop: str, cell: str, requirements: Collection[str]) -> list[Result]:
    """The verdicts of these requirements in a cell, by direct function calls: a fraction of a second for a loop."""
    _forget_modules()
    return rows_of(driver(loop), cell, requirements)


def faults(loop: str, cell: str, requirements: Collection[str], *, whole: bool = False) -> list[Result]:
    """The verdicts of these requirements in a cell and of one check of `CONTROL`.

    Unless ``whole``, no further check is played of a requirement that has failed.
    """
    _forget_modules()
    return faults_of(driver(loop), cell, requirements, whole=whole)


def faults_of(driver: str, cell: str, requirements: Collection[str], *, whole: bool = False) -> list[Result]:
    """The same, of a driver that is in no folder of strange loops."""
    session, planned = _suite()
    named = chosen(planned, profile=CORE, cells=[cell])
    control = next(one for one in named if one.check.requirement.id == CONTROL)
    wanted = [control, *(one for one in named if one.check.requirement.id in {*requirements} - {CONTROL})]
    return [one.result for one in play(session, driver, wanted, whole=whole)]


def rows_of(driver: str, cell: str, requirements: Collection[str]) -> list[Result]:
    """The same, of a driver that is in no folder of strange loops."""
    session, planned = _suite()
    named = [one for one in planned if one.check.requirement.id in requirements]
    return [one.result for one in play(session, driver, chosen(named, profile=CORE, cells=[cell]))]


def whole(loop: str, cell: str) -> list[Result]:
    """All verdicts of core in a cell, including violations noticed outside of the checks.

    Properties have one example, the simplest: more would take longer than everything else together.
    """
    _forget_modules()
    session = Session.begin(_options(driver(loop), cell))
    try:
        run_pytest(session)
    finally:
        session.end()
    return session.record.results


def _forget_modules() -> None:
    """Forget what earlier loops have imported: those of several folders import modules of one name."""
    for name, module in list(sys.modules.items()):
        if "." not in name and Path(getattr(module, "__file__", None) or "/").is_relative_to(HERE):
            del sys.modules[name]


@cache
def _suite() -> tuple[Session, tuple[Planned, ...]]:
    session = Session.begin(_options())
    try:
        return session, plan(session)
    finally:
        session.end()


def _options(driver: str | None = None, *cells: str) -> Options:
    return Options(
        driver=driver,
        selection=Selection((CORE,), cells=cells),
        patience=Patience(outcome=20.0, gate=2.0),
        examples=1,
        asks=False,
    )
