"""The smoke test of a driver, which tells whether it speaks the protocol in every mode that it offers.

It says nothing of how good the implementation behind the driver is, so that a broken driver is never scored as a broken
loop, and a loop that does otherwise is told apart from a broken driver.
"""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from looptck.bench.bench import Bench, Patience
from looptck.bench.benches import bench_for
from looptck.catalogue.extras import NotInstalled
from looptck.drivers import DriverFault
from looptck.drivers.cells import cells
from looptck.report.console import output_console
from looptck.suite.tryout import Check, LoopsDoing, Unfit, checks
from looptck.values.cell import Cell
from looptck.wires import WIRES

STYLES = {"ok": "green", "LOOP": "yellow", "FAULT": "bold red"}
"""What stands before a line: all is well, the loop does something else than expected, the driver is at fault."""


def smoke_test(driver: str, timeout: float) -> int:
    """Try a driver out and print what it can and cannot do; exit status 0, 1 (at fault) or 2 (could not start).

    Args:
        driver: as ``looptck run --driver`` takes it.
        timeout: seconds of silence after which a run is given up.
    """
    console = output_console()
    kit = None
    try:
        kit = bench_for(driver, Patience(outcome=timeout))
        kit.__enter__()
    except (DriverFault, NotInstalled, ValueError) as error:
        _say(console, "FAULT", "start", str(error))
        return 2
    started = kit.started
    console.print(f"{started.name} {started.version} ({started.language})", markup=False, highlight=False)
    _say(console, "ok", "start")
    found = []
    for cell in cells(started, WIRES):
        if not started.can(cell.needs):
            continue
        for name, check in checks(started).items():
            word, told = _tried(kit, cell, name, check)
            found.append(word)
            _say(console, word, f"{name} [{cell}]", told)
    kit.__exit__()
    for fault in kit.late_faults:
        found.append("FAULT")
        _say(console, "FAULT", "afterwards", str(fault))
    if "LOOP" in found:
        console.print("LOOP: the driver did its part; the suite will say what is right of what the loop did.")
    return 1 if "FAULT" in found else 0


def _tried(kit: Bench, cell: Cell, name: str, check: Check) -> tuple[str, str]:
    try:
        check(kit, cell, name)
    except LoopsDoing as told:
        return "LOOP", str(told)
    except (DriverFault, Unfit) as error:
        return "FAULT", str(error)
    return "ok", ""


def _say(console: Console, word: str, what: str, told: str = "") -> None:
    line = Text(f"{word:<6}", style=STYLES[word])
    line.append(what, style="default")
    if told:
        line.append(f"\n      {told}", style="default")
    console.print(line, soft_wrap=True)
