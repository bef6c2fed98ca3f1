"""Each broken loop fails the requirements of ``prompty-agent-mode`` that name its fault, and nothing unexplained."""

from __future__ import annotations

import pytest

from looptck.catalogue import catalogue
from looptck.verdicts import AGAINST
from looptck_reference.driver import Driver
from meta.loops.expecting import CELLS, expected, those
from meta.loops.faults import CHAT_STREAM, Fault
from meta.loops.faults_agent_mode import ASYNC, FAULTS, SAYABLE
from meta.loops.judging import judged

PROFILE = "prompty-agent-mode"


@pytest.mark.parametrize("fault", [pytest.param(fault, id=fault.loop.__name__) for fault in FAULTS])
def test_broken_loop(fault: Fault) -> None:
    """In the cells of its fault it fails what the table says, and what names the fault fails outright."""
    cells = [cell for cell in CELLS if cell.matches(fault.cells)]

    results = judged(fault.loop, *fault.cells, profile=PROFILE)

    assert expected([*fault.named, *fault.also], cells) == those(results, *AGAINST)
    assert expected(fault.named, cells) <= those(results, "fail")


def test_reference_is_whole() -> None:
    """The reference breaks nothing in the cells of the faults, so the faults are the broken loops' own."""
    results = judged(Driver, *SAYABLE, *CHAT_STREAM, *ASYNC, profile=PROFILE)

    assert set() == those(results, *AGAINST, "not-applicable")


def test_every_requirement_has_a_loop_that_breaks_it() -> None:
    """No requirement of the profile is one that nothing was seen to fail."""
    tested = {row.id for row in catalogue().profiles[PROFILE].requirements if row.excluded is None}

    assert tested == {id for fault in FAULTS for id in fault.named}
