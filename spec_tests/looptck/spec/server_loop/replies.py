"""Conversations that several checks of servers play, and helpers that read the replies."""

from __future__ import annotations

import json
from typing import Any

from looptck.bench.run import Run
from looptck.client import Progress, Reply
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotReached

PING = Call.of("ping")
PARIS = Call.of("weather", {"city": "Paris"})
LODZ = Call.of("weather", {"city": "Łódź", "days": [1, {"hour": 12}]})
DONE = says("Done.")
ONE_ROUND = (calls(PING), DONE)
THREE_ROUNDS = (calls(PING), calls(PARIS), calls(LODZ), DONE)


def reply_after_rounds(run: Run, rounds: int) -> Reply:
    """The reply of a run in which exactly ``rounds`` tools ran. Raises NotReached if another number ran."""
    if rounds != len(run.ran):
        raise NotReached(f"{rounds} tools should have run, and {len(run.ran)} did; the request got {run.got}")
    return run.got


def events_of_phase(reply: Reply, name: str) -> list[Progress]:
    """The progress events of one phase. Raises NotReached if there is none."""
    found = [event for event in reply.progress if event.phase == name]
    if not found:
        raise NotReached(f"no progress event has the phase {name}: the request got {reply}")
    return found


def as_json(value: Any) -> Any:
    """The JSON value of a text that may be JSON; other texts and values are returned as they are."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value
