"""The smoke test of a driver: it shows whether the driver speaks the protocol in every mode that it offers.

The smoke test does not judge the implementation behind the driver, so a broken driver is never scored as a broken loop.
It distinguishes a loop that behaves unexpectedly from a broken driver.
"""

from __future__ import annotations

from contextlib import ExitStack

from rich.console import Console
from rich.text import Text

from looptck.bench.bench import Bench, Patience
from looptck.bench.choosing import bench_for
from looptck.catalogue.extras import NotInstalled
from looptck.catalogue.yaml_files import BadFile
from looptck.drivers import DriverFault
from looptck.drivers.cells import cells
from looptck.report.console import output_console
from looptck.suite.tryout import Check, UnexpectedLoop, Unfit, checks
from looptck.values.cell import Cell
from looptck.wires import WIRES

STYLES = {"ok": "green", "LOOP": "yellow", "FAULT": "bold red"}
"""The first word of a line: test passed, the loop did something unexpected, the driver is at fault."""


def smoke_test(driver: str, timeout: float | None) -> int:
    """Test a driver and print the result of each test; exit status 0, 1 (driver at fault) or 2 (could not start).

    Args:
        driver: the value for ``looptck run --driver``.
        timeout: seconds without an event after which a run counts as hung, and those that the driver may take to start.
            None: those of ``looptck run``.
    """
    patience = Patience() if timeout is None else Patience(outcome=timeout, start=timeout)
    console = output_console()
    with ExitStack() as stack:
        try:
            bench = stack.enter_context(bench_for(driver, patience))
        except (BadFile, DriverFault, NotInstalled, ValueError) as error:
            _say(console, "FAULT", "start", _what_is_wrong(error))
            return 2
        found = _tested(console, bench)
    for fault in bench.late_faults:
        found.append("FAULT")
        _say(console, "FAULT", "after the runs", _what_is_wrong(fault))
    if "LOOP" in found:
        console.print("LOOP: the driver works, but the loop did something unexpected; `looptck run` judges it.")
    return 1 if "FAULT" in found else 0


def _tested(console: Console, bench: Bench) -> list[str]:
    """Print the result of each test; returns the first word of each line."""
    found = []
    started = bench.started
    console.print(f"{started.name} {started.version} ({started.language})", markup=False, highlight=False)
    _say(console, "ok", "start")
    for cell in cells(started, WIRES):
        if not started.can(cell.needs):
            continue
        for name, check in checks(started).items():
            word, message = _tried(bench, cell, name, check)
            found.append(word)
            _say(console, word, f"{name} [{cell}]", message)
    return found


def _tried(bench: Bench, cell: Cell, name: str, check: Check) -> tuple[str, str]:
    try:
        check(bench, cell, name)
    except UnexpectedLoop as unexpected:
        return "LOOP", str(unexpected)
    except (DriverFault, Unfit) as error:
        return "FAULT", _what_is_wrong(error)
    return "ok", ""


def _what_is_wrong(error: Exception) -> str:
    """What is wrong, and what mends it."""
    mend = error.mend if isinstance(error, DriverFault | Unfit) else ""
    return f"{error}\n      mend: {mend}" if mend else str(error)


def _say(console: Console, word: str, what: str, message: str = "") -> None:
    line = Text(f"{word:<6}", style=STYLES[word])
    line.append(what, style="default")
    if message:
        line.append(f"\n      {message}", style="default")
    console.print(line, soft_wrap=True)
