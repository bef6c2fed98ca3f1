"""Each broken loop fails the requirement that names its fault, where the fault is, and nothing unexplained."""

from __future__ import annotations

import pytest

from looptck.verdicts import AGAINST
from looptck_reference.driver import Driver
from meta.loops import broken, broken_stops, broken_streams, stateful
from meta.loops.expecting import CELLS, expected, those
from meta.loops.faults import CHAT_STREAM, FAULTS, SYNC, Fault
from meta.loops.judging import judged


@pytest.mark.parametrize("fault", [pytest.param(fault, id=fault.loop.__name__) for fault in FAULTS])
def test_broken_loop(fault: Fault) -> None:
    """In the cells of its fault it fails what the table says; in the others, nothing that names the fault."""
    spoken = [cell for cell in CELLS if cell.wire in fault.loop.wires and cell.matches((*SYNC, *fault.cells))]
    whole = [cell for cell in spoken if cell.matches(fault.whole or fault.cells)]
    others = [cell for cell in spoken if cell not in whole]
    narrow = [*fault.named, *fault.where]

    results = judged(fault.loop, *map(str, whole))
    results += judged(fault.loop, *map(str, others), requirements=narrow) if others else []

    fall = expected(fault, [*fault.named, *fault.also], whole) | expected(fault, narrow, others)
    assert fall == those(results, *AGAINST)
    assert expected(fault, fault.named, spoken) <= those(results, "fail")


@pytest.mark.parametrize(
    ("loop", "requirement", "case"),
    [
        (broken.Swapped, "conversations-are-carried-right", "any-conversation"),
        (broken_streams.LinesOfText, "arguments-arrive-whatever-their-shape", "any-arguments"),
        (broken_streams.CallsMerged, "framing-does-not-matter", "any-framing"),
        (broken_stops.AllThatWasSaid, "wires-agree", "any-conversation-agrees"),
    ],
)
def test_property_finds_fault(loop: type[Driver], requirement: str, case: str) -> None:
    """With examples enough, a property comes upon a fault by itself."""
    results = judged(loop, *CHAT_STREAM, requirements=[requirement], cases=[case], examples=25)

    assert [(requirement, "fail")] == [(result.requirement, result.verdict) for result in results]


@pytest.mark.parametrize("loop", [Driver, broken.Unordered, broken_stops.BadCallsHandedBack, stateful.Stateful])
def test_loop_is_whole(loop: type[Driver]) -> None:
    """The reference breaks nothing, so the faults are the broken loops' own; nor do those that are only unusual.

    The calls of a turn may run in any order, a call that cannot be read may be left to the caller, and the service may
    keep the conversation.
    """
    results = judged(loop, *SYNC, examples=3)

    assert set() == those(results, *AGAINST)
    assert 150 * len(loop.wires) <= sum(result.verdict == "pass" for result in results)
