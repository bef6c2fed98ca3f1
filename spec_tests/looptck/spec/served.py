"""Conversations that several checks of servers play, and what they ask of the replies."""

from __future__ import annotations

import json
from typing import Any

from looptck.client import Progress, Reply
from looptck.run import Run
from looptck.turns import Call, calls, says
from looptck.verdicts import NotReached

PING = Call.of("ping")
PARIS = Call.of("weather", {"city": "Paris"})
LODZ = Call.of("weather", {"city": "Łódź", "days": [1, {"hour": 12}]})
DONE = says("Done.")
ONE_ROUND = (calls(PING), DONE)
THREE_ROUNDS = (calls(PING), calls(PARIS), calls(LODZ), DONE)


def served(run: Run, rounds: int) -> Reply:
    """The reply of a run in which so many tools ran. Raises NotReached where they did not."""
    if rounds != len(run.ran):
        raise NotReached(f"{rounds} tools should have run, and {len(run.ran)} did; the request got {run.got}")
    return run.got


def phase(reply: Reply, name: str) -> list[Progress]:
    """The progress events of one phase. Raises NotReached where there is none."""
    found = [event for event in reply.progress if event.phase == name]
    if not found:
        raise NotReached(f"no event tells of the phase {name}: the request got {reply}")
    return found


def as_json(value: Any) -> Any:
    """A value that may stand there as JSON text; what is no JSON stays as it is."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value
