"""Where the time of a run went: its parts, and what the report says of them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from click.testing import CliRunner

from looptck.cli.group import main
from looptck.provider.gate import REST
from looptck.report.terminal import _durations
from looptck.suite.record import Record
from looptck.values.spent import Spent


def test_shares_are_the_whole() -> None:
    """What a run did not spend elsewhere it spent in the loop, and what no run spent was spent on the checks."""
    spent = Spent(runs=6.0, provider=1.5, judge=0.5, held=2.0, idle=0.25, checks={"a": 4.0, "b": 6.0})

    assert {
        "driver and loop": 2.5,
        "held at gates": 2.0,
        "until the loop is idle": 0.25,
        "provider": 1.0,
        "judge": 0.5,
        "checks and reports": 3.75,
    } == spent.shares()
    assert 10.0 == spent.whole == sum(spent.shares().values())
    assert [("b", 6.0)] == spent.slowest(1)


def test_processes_are_added_up() -> None:
    """Each process has spent its own time, and each check is in one of them."""
    one = Spent(runs=1.0, judge=0.5, checks={"a": 2.0})
    one.add(Spent.of(json.loads(json.dumps(Spent(runs=3.0, held=1.0, checks={"a": 1.0, "b": 4.0}).serializable()))))

    assert Spent(runs=4.0, judge=0.5, held=1.0, checks={"a": 3.0, "b": 4.0}) == one


def test_shares_of_runs_at_the_same_time_are_no_more_than_all() -> None:
    """Of ten runs that went on together each counts, and the shares are still those of a whole."""
    record = SimpleNamespace(spent=Spent(runs=10.0, idle=0.5, checks={"a": 1.0}))

    head, *shares, _ = [*_durations(cast("Record", record), 1)][1:]

    assert "1.0 s in all checks, of all processes together, in which runs at the same time took 9.5 s more:" == head
    assert 100 == sum(int(line.split("%")[0].split()[-1]) for line in shares)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_the_report_says_where_the_time_went(workers: str, tmp_path: Path) -> None:
    """Every part is told; a tool was held at least until the loop rested; the checks are told, the slowest first."""
    words = ["run", "-q", "-j", workers, "--cell", "openai-chat/plain/sync", "--durations", "100"]
    chosen = ["--requirement", "nothing-runs-after-the-end", "--requirement", "call-runs-its-tool-once"]

    ran = CliRunner().invoke(main, [*words, *chosen, "--json", str(tmp_path / "results.json")])

    shares = {words: float(s) for s, words in re.findall(r"^ +([0-9.]+) s +\d+%  (.+)$", ran.output, re.MULTILINE)}
    assert 0 == ran.exit_code
    assert set(Spent().shares()) == set(shares)
    assert shares["held at gates"] >= REST
    checks = {check: float(s) for s, check in re.findall(r"^ +([0-9.]+) s {8}(\S+/\S+)$", ran.output, re.MULTILINE)}
    assert [*checks.values()] == sorted(checks.values(), reverse=True)
    assert checks["nothing-runs-after-the-end/openai-chat/plain/sync/slow-tool"] >= REST
    assert 5 == len(checks)
