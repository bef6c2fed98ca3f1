"""Runs that are suspended before calls of `note`, and resumed with decisions about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.talk import Talk, suspended
from looptck.spec.conversing import guarded
from looptck.values.history import Answered, Asked, Request, holds, spelled
from looptck.values.jsontext import canonical
from looptck.values.outcome import Pending, Suspended
from looptck.values.turns import Turn

TOOLS = guarded("note")
NO = "Not on a Sunday."
RESULTS = {tool: f"result of {tool}" for tool in ("note", "weather", "add")}
"""What the tools return in runs that are compared."""


def stop(scenario: Scenario, talk: Talk, script: list[Turn]) -> tuple[Run, list[Turn]]:
    """The run until it is suspended, and the turns that are left."""
    scenario.plays(*script)
    run = talk.run("Go.", tools=TOOLS)
    suspended(run)
    return run, script[len(run.requests) :]


def approved(run: Run) -> list[dict[str, Any]]:
    """Decisions that approve every call that waits."""
    return [{"id": one.id, "decision": "approve"} for one in suspended(run).calls]


def decided(run: Run, text: str) -> list[dict[str, Any]]:
    """Decisions that approve the calls with this text and reject the others: by their ids, in another order."""

    def decision(one: Pending) -> dict[str, Any]:
        if text in str(one.arguments):
            return {"id": one.id, "decision": "approve"}
        return {"id": one.id, "decision": "reject", "feedback": NO}

    return [decision(one) for one in reversed(suspended(run).calls)]


def resumed(
    talk: Talk, first: Run, decide: Callable[[Run], list[dict[str, Any]]], *, renewed: bool = False
) -> list[Run]:
    """A suspended run and what is left of it: a loop may be suspended again, for calls that are not decided yet."""
    parts = [first]
    known: set[str] = set()
    while not _waiting(parts[-1]) <= known:
        known |= _waiting(parts[-1])
        if renewed:
            talk.renew()
        parts.append(talk.resume(parts[-1], decide(parts[-1]), tools=TOOLS))
        if parts[-1].received:
            break
    return parts


def _waiting(run: Run) -> set[str]:
    """The calls that wait for a decision; none if the run is not suspended."""
    calls = run.outcome.calls if isinstance(run.outcome, Suspended) else ()
    return {f"{one.tool}({canonical(one.arguments)})" for one in calls}


def by_call(request: Request) -> list[str]:
    """The results of a request, each with the arguments of the latest call before it that has its id.

    A loop may have other names for its tools, ids that begin anew in each run, and words of its own beside a result.
    """
    calls: dict[str, str] = {}
    found = []
    for item in request.items:
        if isinstance(item, Asked):
            calls[item.id] = spelled(item.arguments)
        elif isinstance(item, Answered):
            text = next((text for text in RESULTS.values() if holds(item.text, text)), item.text)
            found.append(f"{calls.get(item.id, 'no call')}: {text}")
    return found
