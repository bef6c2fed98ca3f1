"""The steps of the reference that a mutant may bend are those that the page on checks names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import looptck_reference
from looptck_reference.http.exchange import Exchange
from looptck_reference.http.spans import RunSpans
from looptck_reference.kit.driver import Driver
from looptck_reference.kit.servers import Servers
from looptck_reference.kit.team import Team
from looptck_reference.loop.calling import Calling
from looptck_reference.loop.loop import Loop
from looptck_reference.loop.rounds import Rounds
from looptck_reference.loop.telling import Telling
from looptck_reference.mcp import McpClient
from looptck_reference.mcp.metadata import Metadata
from looptck_reference.prompty.invoke import Invoker
from looptck_reference.prompty.prompts import Loader

TEXT = (Path(__file__).parents[3] / "docs" / "checks.md").read_text(encoding="utf-8")
OTHERS = {
    kind.__name__: kind for kind in (Driver, Exchange, Invoker, Loader, McpClient, Metadata, RunSpans, Servers, Team)
}


def _rows() -> list[tuple[list[type], list[str]]]:
    """The classes of each row of the table, and the names of methods."""
    table = TEXT.partition("<!-- steps:")[2].partition("<!-- end of steps -->")[0]
    rows = [
        [re.findall(r"`(\w+)`", column) for column in line.split("|")[1:3]] for line in table.splitlines()[3:] if line
    ]
    return [([OTHERS.get(name) or getattr(looptck_reference, name) for name in names], steps) for names, steps in rows]


@pytest.mark.parametrize(("classes", "steps"), _rows(), ids=lambda _: "")
def test_steps_are_methods(classes: list[type], steps: list[str]) -> None:
    """Each name of a row is a method of one of its classes, and each class has one."""
    for step in steps:
        assert any(hasattr(kind, step) for kind in classes), step
    for kind in classes:
        assert any(hasattr(kind, step) for step in steps), kind


def test_all_steps_of_the_loop_are_named() -> None:
    """The public methods of the loop that report nothing are those of the table."""
    reports = {"start", "model_answered", "tools_ended", "decided", "suspend", "resume", "cancel"}
    methods = {name for kind in (Loop, Rounds, Telling, Calling) for name, one in vars(kind).items() if callable(one)}
    steps = {name for name in methods if not name.startswith("_")} - reports

    assert steps == {step for classes, names in _rows() if Loop in classes for step in names}
