"""Each broken loop fails the requirements of ``anthropic-loop`` that name its fault, and nothing unexplained."""

from __future__ import annotations

import pytest

from looptck.verdicts import AGAINST
from looptck_reference.driver import Driver
from meta.loops.expecting import CELLS, expected, those
from meta.loops.faults import SYNC, Fault
from meta.loops.faults_anthropic import FAULTS
from meta.loops.judging import judged

PROFILE = "anthropic-loop"


@pytest.mark.parametrize("fault", [pytest.param(fault, id=fault.loop.__name__) for fault in FAULTS])
def test_broken_loop(fault: Fault) -> None:
    """In the cells of its fault it fails what the table says, and what names the fault fails outright."""
    cells = [cell for cell in CELLS if cell.matches(fault.cells)]

    results = judged(fault.loop, *fault.cells, profile=PROFILE)

    assert expected([*fault.named, *fault.also], cells) == those(results, *AGAINST)
    assert expected(fault.named, cells) <= those(results, "fail")


def test_reference_is_whole() -> None:
    """The reference breaks nothing of the profile, and lacks nothing but that it starts no calls early."""
    results = judged(Driver, *SYNC, profile=PROFILE)

    assert set() == those(results, *AGAINST)
    assert {"claude-eager-calls-run-at-most-once"} == {id for id, _ in those(results, "not-applicable")}
