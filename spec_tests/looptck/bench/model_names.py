"""A script with thinking, hosted tools or phases is played under the name of a model that clients know to have them.

Some clients return thinking or phases, and offer hosted tools, only to models whose names they know, so the verdict on
a loop that uses such a client would depend on the name that looptck gives its model. All other scripts keep the
neutral name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from looptck.drivers.case_message import RunOptions
from looptck.provider.script import Step
from looptck.values.turns import Hosted, Piece, Served, Text, Thinking
from looptck.wires.wire import Wire

REASONING: Mapping[str, str] = {"openai-responses": "gpt-5"}
"""The name of a reasoning model with hosted tools, by wire. Chat has neither in a turn; on Messages the request asks
for them, whatever the name of its model."""
PHASED: Mapping[str, str] = {"openai-responses": "gpt-5.4"}
"""The name of a model whose messages have phases, by wire."""


def named(options: RunOptions, steps: Iterable[Step], wire: Wire, *, before: str | None = None) -> RunOptions:
    """The options, with the name of a model that can produce these steps (those known before the run).

    ``before``: the name in the run that this one goes on with; a model that has more than others stays one.
    """
    turns = [step.turn for step in steps if step.turn is not None]
    for names, has in ((PHASED, _has_phase), (REASONING, _is_of_reasoning)):
        name = names.get(wire.name)
        if name is not None and (before == name or any(has(piece) for turn in turns for piece in turn.pieces)):
            return replace(options, model=name)
    return options


def _has_phase(piece: Piece) -> bool:
    return isinstance(piece, Text) and piece.phase is not None


def _is_of_reasoning(piece: Piece) -> bool:
    return isinstance(piece, Thinking | Hosted | Served)
