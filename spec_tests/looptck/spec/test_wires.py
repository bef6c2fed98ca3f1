"""Wires: one conversation is the same on all of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from looptck.checks import Implementation, requirement
from looptck.kit import Scene
from looptck.run import Run
from looptck.spec import strategies
from looptck.turns import Call, Turn, calls, says
from looptck.verdicts import NotApplicable
from looptck.wires import WIRES

CHAIN = [
    calls(Call.of("weather", {"city": "Zürich — 東京"}), Call.of("add", {"a": 1, "b": 2.5}), text="First these."),
    calls(Call.of("note", {"text": 'a "quoted" \\ word'})),
    calls(Call.of("ping")),
]


def _others(implementation: Implementation) -> list[str]:
    """The other wires that the implementation speaks. Raises NotApplicable if there is none."""
    spoken = [name for name in WIRES if name in implementation.started.wires and name != implementation.cell.wire]
    if not spoken:
        raise NotApplicable("the implementation speaks one wire, and there is none to agree with")
    return spoken


def _agree(provider: Scene, implementation: Implementation, turns: list[Turn]) -> None:
    provider.plays(*turns, says("All done."))
    here = implementation.run()
    here.request(len(turns) + 1)
    for wire in _others(implementation):
        there = implementation.run(cell=replace(implementation.cell, wire=wire))

        assert here.rounds == there.rounds, f"{wire} ran other tools"
        assert _answer(here) == _answer(there), f"{wire} came to another answer"


def _answer(run: Run) -> str | None:
    """The text that the caller got; None where the loop failed."""
    return None if run.failed else run.value.text


@requirement("wires-agree")
@pytest.mark.parametrize("length", [1, 3])
def test_chain(provider: Scene, implementation: Implementation, length: int) -> None:
    """A chain of turns runs the same tools with the same arguments, and ends in the same text."""
    _agree(provider, implementation, CHAIN[:length])


@requirement("wires-agree")
def test_any_conversation_agrees(provider: Scene, implementation: Implementation) -> None:
    """Any conversation does."""
    _others(implementation)

    @implementation.every(strategies.conversations())
    def holds(turns: list[Turn]) -> None:
        _agree(provider, implementation, turns)
