"""Turns with thoughts are a reasoning model's: a script that has them is played under a name that clients know for one.

Some clients carry thoughts back only to models whose names they know, and a loop on top of them would be judged by what
the kit calls its model. Every other script keeps the neutral name, which switches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from looptck.handover import Setting
from looptck.provider.script import Step
from looptck.turns import Thinking
from looptck.wires.wire import Wire

NAMES: Mapping[str, str] = {"openai-responses": "gpt-5"}
"""The name of a reasoning model, by wire. Chat leaves thoughts out of a turn, on Messages the request asks for them,
whatever its model is called."""


def named(setting: Setting, steps: Iterable[Step], wire: Wire) -> Setting:
    """The setting with the model that can have said these steps; ``steps`` are those that are known beforehand."""
    if wire.name not in NAMES or not any(map(_thinks, steps)):
        return setting
    return replace(setting, model=NAMES[wire.name])


def _thinks(step: Step) -> bool:
    return step.turn is not None and any(isinstance(piece, Thinking) for piece in step.turn.pieces)
