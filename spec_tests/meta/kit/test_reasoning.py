"""Turns with reasoning are not played to a loop that is for models without it, and are to every other."""

from __future__ import annotations

import pytest

from looptck.bench.reasoning import playable, reasons
from looptck.drivers import Started
from looptck.provider.script import Step
from looptck.values.turns import Hosted, Served, Thinking, says, turn
from looptck.values.verdicts import NotApplicable
from looptck.wires import WIRES

THOUGHT = Step(turn(Thinking("Which city?"), "It is fine."))
WRITTEN = Step(turn(Served('{"type": "reasoning", "id": "rs_x", "summary": []}'), "It is fine."))


def started(**dialect: str) -> Started:
    """A driver that declares this dialect."""
    return Started("x", "1", "python", ("openai-responses",), ("sync",), (), {}, dialect)


@pytest.mark.parametrize(
    ("steps", "wire", "found"),
    [
        ([THOUGHT], "openai-responses", True),
        ([Step(says("No.")), THOUGHT], "anthropic-messages", True),
        ([THOUGHT], "openai-chat", False),
        ([WRITTEN], "openai-responses", True),
        ([Step(says("No.")), Step(turn(Hosted(), "Found.")), Step(None)], "openai-responses", False),
    ],
    ids=["thinking", "later", "left-out", "as-written", "other-pieces"],
)
def test_reasoning_is_found(steps: list[Step], wire: str, found: bool) -> None:
    """A step has reasoning if the wire can say it."""
    assert found is reasons(steps, WIRES[wire])


def test_it_is_not_played_to_a_loop_without() -> None:
    """The check is not applicable, and names the word of the driver."""
    with pytest.raises(NotApplicable, match=r"dialect\.models"):
        playable([THOUGHT], WIRES["openai-responses"], started(models="without-reasoning"))


@pytest.mark.parametrize("dialect", [{}, {"models": "any"}])
def test_it_is_played_to_others(dialect: dict[str, str]) -> None:
    """Without the word nothing is left out."""
    playable([THOUGHT], WIRES["openai-responses"], started(**dialect))
