"""Wires: one conversation leads to the same run on all of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from looptck.bench.checks import Implementation, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.spec import strategies
from looptck.values.turns import Call, Turn, calls, says
from looptck.values.verdicts import NotApplicable
from looptck.wires import WIRES

CHAIN = [
    calls(Call.of("weather", {"city": "Zürich — 東京"}), Call.of("add", {"a": 1, "b": 2.5}), text="First these."),
    calls(Call.of("note", {"text": 'a "quoted" \\ word'})),
    calls(Call.of("ping")),
]


def _others(implementation: Implementation) -> list[str]:
    """The other wires that the implementation supports. Raises NotApplicable if there is none."""
    spoken = [name for name in WIRES if name in implementation.started.wires and name != implementation.cell.wire]
    if not spoken:
        raise NotApplicable("the implementation supports only one wire, so there is none to compare with")
    return spoken


def _agree(scenario: Scenario, implementation: Implementation, turns: list[Turn]) -> None:
    scenario.plays(*turns, says("All done."))
    here = implementation.run()
    here.request(len(turns) + 1)
    for wire in _others(implementation):
        there = implementation.run(cell=replace(implementation.cell, wire=wire))

        assert here.rounds == there.rounds, f"on {wire} other tools ran"
        assert _answer(here) == _answer(there), f"on {wire} the run had another answer"


def _answer(run: Run) -> str | None:
    """The text that the caller got; None if the loop failed."""
    return None if run.failed else run.value.text


@requirement("wires-agree")
@pytest.mark.parametrize("length", [1, 3])
def test_chain(scenario: Scenario, implementation: Implementation, length: int) -> None:
    """A chain of turns runs the same tools with the same arguments, and ends in the same text."""
    _agree(scenario, implementation, CHAIN[:length])


@requirement("wires-agree")
def test_any_conversation_agrees(scenario: Scenario, implementation: Implementation) -> None:
    """Any conversation runs the same tools with the same arguments on every wire, and ends in the same text."""
    _others(implementation)

    @implementation.every(strategies.conversations())
    def holds(turns: list[Turn]) -> None:
        _agree(scenario, implementation, turns)
