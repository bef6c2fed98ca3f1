"""A script with thinking or hosted tools is played under the name of a reasoning model that clients know.

Some clients return thinking, and offer hosted tools, only to models whose names they know, so the verdict on a loop
that uses such a client would depend on the name that looptck gives its model. All other scripts keep the neutral name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from looptck.drivers.case_message import RunOptions
from looptck.provider.script import Step
from looptck.values.turns import Hosted, Served, Thinking
from looptck.wires.wire import Wire

NAMES: Mapping[str, str] = {"openai-responses": "gpt-5"}
"""The name of a reasoning model with hosted tools, by wire. Chat has neither in a turn; on Messages the request asks
for them, whatever the name of its model."""


def named(options: RunOptions, steps: Iterable[Step], wire: Wire, *, before: str | None = None) -> RunOptions:
    """The options, with the name of a model that can produce these steps (those known before the run).

    ``before``: the name in the run that this one goes on with; a reasoning model stays one.
    """
    name = NAMES.get(wire.name)
    if name is None or (before != name and not any(map(_says, steps))):
        return options
    return replace(options, model=name)


def _says(step: Step) -> bool:
    """Whether some models could not have made the turn of a step."""
    return step.turn is not None and any(isinstance(piece, Thinking | Hosted | Served) for piece in step.turn.pieces)
