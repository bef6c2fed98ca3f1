"""Reasoning: a loop that is for models that do not reason is played no turn that has some."""

from __future__ import annotations

from collections.abc import Iterable

from looptck.drivers import Started
from looptck.provider.script import Step
from looptck.values.turns import Served, Thinking, Turn
from looptck.values.verdicts import NotApplicable
from looptck.wires.wire import Wire

WITHOUT = "without-reasoning"


def reasons(steps: Iterable[Step], wire: Wire) -> bool:
    """Whether a turn of these steps has reasoning that a wire can express; other wires omit it."""
    pieces = [piece for step in steps if step.turn is not None for piece in step.turn.pieces]
    return any(
        piece.value.get("type") == "reasoning" if isinstance(piece, Served) else wire.echo(Turn((piece,)))
        for piece in pieces
        if isinstance(piece, Served | Thinking)
    )


def playable(steps: Iterable[Step], wire: Wire, started: Started) -> None:
    """Raise NotApplicable if these steps have reasoning, and the loop is declared to be for models that have none."""
    if started.dialect.get("models") == WITHOUT and reasons(steps, wire):
        raise NotApplicable(f'the driver declares dialect.models "{WITHOUT}", and a turn has reasoning')
