"""Checks of many runs: one that goes wrong for good ends them, and one that goes wrong now and then is told as such."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from looptck.report.results import read
from meta.drivers.bench import SHORT, in_process, judged, process

PROPERTY = "conversations-are-carried-right"
INTERRUPTIBLE = """
import signal
from looptck.cli.group import main
signal.signal(signal.SIGINT, signal.default_int_handler)  # what is started in the background ignores it
main()
"""


@pytest.mark.parametrize(
    ("driver", "verdict", "reason"),
    [
        (in_process("LoopHangs"), "fail", "liveness: "),
        (in_process("Hangs"), "error", "driver: hung: "),
        (in_process("Raises"), "error", "driver: crashed: "),
        (process("Crashes"), "error", "driver: crashed: "),
    ],
    ids=["loop-hangs", "driver-hangs", "driver-raises", "process-crashes"],
)
def test_a_property_ends_with_the_first_run_that_cannot_be_judged(driver: str, verdict: str, reason: str) -> None:
    """A hang or a driver's fault in a property is told as what it is, and is not waited for again to be shrunk."""
    report = judged(driver, PROPERTY, timeout=SHORT)

    assert (1, {verdict: 1}) == (report.status, report.counts)
    assert report.reason("any-conversation").startswith(reason)
    assert "run r2" not in report.printed


def test_a_loop_that_is_wrong_now_and_then_is_not_the_kits_fault() -> None:
    """A failure that does not come again counts against the loop all the same, and is no error of the kit."""
    report = judged(in_process("WrongOnce"), PROPERTY)

    assert (1, {"not-reached": 1}) == (report.status, report.counts)


def test_an_interrupted_run_ends_its_driver(tmp_path: Path) -> None:
    """A run that is interrupted has exit status 2, says how much was not judged, and leaves no driver behind."""
    results = tmp_path / "results.json"
    words = ["run", "--driver", process("InterruptsTheKit"), "--requirement", PROPERTY, "--json", str(results)]
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTIBLE, *words], capture_output=True, text=True, timeout=60, check=False
    )

    assert 2 == done.returncode
    assert "no verdict for 2 of 2 checks: the run was interrupted" in done.stdout
    assert 2 == read(results).unfinished
    found = re.search(r"^fake (\d+)\s+\(python\)", done.stdout, re.MULTILINE)
    assert found is not None
    with pytest.raises(ProcessLookupError):
        os.kill(int(found[1]), 0)
