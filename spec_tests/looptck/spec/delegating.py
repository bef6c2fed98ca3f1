"""What the rows on sub-agents have in common: the agents, their lines, and whose request is whose."""

from __future__ import annotations

from dataclasses import replace

from looptck.bench.checks import Implementation
from looptck.bench.run import Run
from looptck.provider.script import RUNAWAY_CAP
from looptck.spec.casting import BILLING, FRONT, TRAVEL, Cast, Line, Part, asks, requests_of
from looptck.values.transcript import Received
from looptck.values.turns import Call
from looptck.values.verdicts import NotReached

QUESTION = "Please see to my order and my journey."
TASK = "Find out what happened to order 4711."
REPORT = "Order 4711 was sent back on Monday."
BEGINNING = "Order 4711 was sent"
DONE = "All is settled, have a nice day."
REFUND = Call.of("refund", {"order": "4711"})
AGENTS = (replace(FRONT, subagents=["billing", "travel"]), BILLING, TRAVEL)
LIMIT = 6
RUNAWAY = RUNAWAY_CAP
"""More than any default limit lets pass, as the limit of the run may not be that of each agent."""
ROUNDS = 40
"""More than most default limits let pass; a sub-agent that has none is done soon after, and no slow run is cut off."""


def cast_of(implementation: Implementation, *lines: Line) -> Cast:
    """A cast in which the first agent has a task done, and the sub-agent says these lines."""
    return Cast(implementation, AGENTS, [Part("front", [[asks("billing", TASK)], [DONE]]), Part("billing", lines)])


def played(implementation: Implementation, *beside: str) -> Run:
    """A run in which a sub-agent uses a tool and answers; ``beside``: what it says beside its call.

    Raises:
        NotReached: it was not asked.
    """
    cast = cast_of(implementation, [*beside, REFUND], [REPORT])
    run = cast.play(QUESTION)
    cast.reached()
    run.request(2)
    return run


def outer(run: Run, n: int) -> Received:
    """The ``n``-th request of the first agent. NotReached if there was none."""
    found = requests_of(run, AGENTS, "front")
    if len(found) < n:
        raise NotReached(f"the agent front made {len(found)} requests, not {n}; the loop {run.outcome}")
    return found[n - 1]


def inner(run: Run) -> Received:
    """The first request after the call of the sub-agent. NotReached if it is the first agent's again."""
    received = run.request(2)
    ids = {call.id for call in run.delivered(1).calls}
    if any(one.id in ids for one in run.normalized(2).answers):
        raise NotReached("request 2 has a result for the call of the sub-agent, which was never asked")
    return received


def results(run: Run, n: int) -> list[str]:
    """The results of the calls of turn 1, which are the first in request ``n``, in the order of the calls.

    Raises:
        AssertionError: a call has none, or several.
    """
    request = run.normalized(n)
    made, texts = run.delivered(1).calls, []
    assert len(made) <= len(request.asked), (
        f"request {n}, which has the instructions of the first agent, does not carry its call "
        f"{made[len(request.asked)].tool}"
    )
    for call, asked in zip(made, request.asked, strict=False):
        found = [one.text for one in request.answers if one.id == asked.id]
        assert 1 == len(found), f"request {n} has {len(found)} results for the call {call.tool}"
        texts += found
    return texts
