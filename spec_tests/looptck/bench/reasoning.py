"""Turns with thoughts are a reasoning model's: a script that has them is played under a name that clients know for one.

Some clients carry thoughts back only to models whose names they know, and a loop on top of them would be judged by what
the kit calls its model. Every other script keeps the neutral name, which switches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from looptck.drivers.case_message import RunOptions
from looptck.provider.script import Step
from looptck.values.turns import Thinking
from looptck.wires.wire import Wire

NAMES: Mapping[str, str] = {"openai-responses": "gpt-5"}
"""The name of a reasoning model, by wire. Chat leaves thoughts out of a turn, on Messages the request asks for them,
whatever its model is called."""


def named(options: RunOptions, steps: Iterable[Step], wire: Wire) -> RunOptions:
    """The options, with the name of a model that can produce these steps; ``steps``: those known before the run."""
    if wire.name not in NAMES or not any(map(_thinks, steps)):
        return options
    return replace(options, model=NAMES[wire.name])


def _thinks(step: Step) -> bool:
    return step.turn is not None and any(isinstance(piece, Thinking) for piece in step.turn.pieces)
