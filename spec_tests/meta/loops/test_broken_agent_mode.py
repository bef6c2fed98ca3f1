"""Each broken loop fails the requirements of ``prompty-agent-mode`` that name its fault, and nothing unexplained."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from looptck.catalogue import catalogue
from looptck.cells import Cell
from looptck.kit import Patience
from looptck.running import run_pytest
from looptck.selection import Selection, concerns
from looptck.session import Options, Session
from looptck.verdicts import AGAINST, Result
from looptck.wires import WIRES
from looptck_reference.driver import Driver
from meta.loops.faults import CHAT_STREAM, Fault
from meta.loops.faults_agent_mode import ASYNC, FAULTS, SAYABLE

PROFILE = "prompty-agent-mode"
CELLS = [Cell(wire, stream, mode) for wire in WIRES for stream in (False, True) for mode in ("sync", "async")]


def judged(driver: type, *cells: str) -> list[Result]:
    """The results of the profile in these cells."""
    options = Options(
        driver=f"python:{driver.__module__}:{driver.__name__}",
        selection=Selection((PROFILE,), cells=cells),
        patience=Patience(outcome=20.0, gate=0.5),
        examples=1,
    )
    session = Session.begin(options)
    run_pytest(session)
    assert [] == [result for result in session.results if result.verdict == "error"]
    return session.results


@pytest.mark.parametrize("fault", [pytest.param(fault, id=fault.loop.__name__) for fault in FAULTS])
def test_broken_loop(fault: Fault) -> None:
    """In the cells of its fault it fails what the table says, and what names the fault fails outright."""
    cells = [cell for cell in CELLS if cell.matches(fault.cells)]

    results = judged(fault.loop, *fault.cells)

    assert _expected([*fault.named, *fault.also], cells) == _those(results, *AGAINST)
    assert _expected(fault.named, cells) <= _those(results, "fail")


def test_reference_is_whole() -> None:
    """The reference breaks nothing in the cells of the faults, so the faults are the broken loops' own."""
    results = judged(Driver, *SAYABLE, *CHAT_STREAM, *ASYNC)

    assert set() == _those(results, *AGAINST, "not-applicable")


def test_every_requirement_has_a_loop_that_breaks_it() -> None:
    """No requirement of the profile is one that nothing was seen to fail."""
    tested = {row.id for row in catalogue().profiles[PROFILE].requirements if row.excluded is None}

    assert tested == {id for fault in FAULTS for id in fault.named}


def _expected(requirements: Iterable[str], cells: Iterable[Cell]) -> set[tuple[str, str]]:
    """The requirements that fail, and the cells in which they do."""
    rows = catalogue()
    return {(id, str(cell)) for id in requirements for cell in cells if concerns(rows[id], cell)}


def _those(results: Iterable[Result], *verdicts: str) -> set[tuple[str, str]]:
    return {(result.requirement, result.cell) for result in results if result.verdict in verdicts}
