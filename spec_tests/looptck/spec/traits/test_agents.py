"""Traits of several agents: what goes over with a conversation, who goes on, and what sub-agents know."""

from __future__ import annotations

from dataclasses import replace

from looptck.bench.run import Run
from looptck.bench.talk import Talk
from looptck.catalogue.traits import trait
from looptck.spec.casting import (
    BILLING,
    FRONT,
    TRAVEL,
    Cast,
    Line,
    Part,
    asker,
    asks,
    instructed,
    over,
    requests_of,
    taken_over,
    words_of,
)
from looptck.suite.asking import Loop, error_text
from looptck.values.outcome import Failed
from looptck.values.turns import Call
from looptck.values.verdicts import NotReached

QUESTION = "Why was order 4711 billed twice?"
LOOKUP = Call.of("lookup", {"customer": "Ada"})
CUSTOMER = "Ada Byron, number 1843"
TEAM = (replace(FRONT, handoffs=["billing", "travel"]), BILLING, TRAVEL)
BELOW = (replace(FRONT, subagents=["billing"]), BILLING)
TASKS = ("See about the maple.", "See about the cedar.")


def _handed_over(loop: Loop) -> Run:
    """A run in which an agent uses a tool and then hands over, played once for all of these traits."""
    loop.scenario.returns("lookup", CUSTOMER)
    parts = [Part("front", [[LOOKUP], [over("billing")]]), Part("billing", [["It is settled."]])]
    cast = Cast(loop, TEAM, parts)
    run = loop.once("handed over", lambda: cast.play(QUESTION))
    cast.reached()
    run.request(3)
    return run


@trait("history-after-a-handoff")
def test_history(loop: Loop) -> None:
    """The agent that hands over has used a tool."""
    received = taken_over(_handed_over(loop), TEAM, 2)

    request = received.request
    if any(CUSTOMER in one.text for one in request.answers):
        loop.answers("calls-and-results")
        return
    loop.answers("words" if CUSTOMER in words_of(request) else "nothing")


@trait("instructions-after-a-handoff")
def test_instructions(loop: Loop) -> None:
    """The instructions in the first request of the agent that takes over."""
    found = instructed(taken_over(_handed_over(loop), TEAM, 2).request, TEAM)

    there = {"billing", "front"} & {*found}
    if not there:
        raise NotReached("the request has the instructions of neither agent")
    loop.answers("replaced" if there == {"billing"} else "added" if len(there) == 2 else "kept")


@trait("asked-after-a-handoff")
def test_asked(loop: Loop) -> None:
    """The first request after the handoff."""
    run = _handed_over(loop)

    loop.answers("the-old-one" if taken_over(run, TEAM, 2).n > 3 else "the-new-one")


@trait("two-handoffs-in-a-turn")
def test_two(loop: Loop) -> None:
    """The model hands over to two agents in one turn."""
    two: Line = [over("billing"), over("travel")]
    parts = [Part("front", [two, ["Neither."]]), Part("billing", [["Done."]]), Part("travel", [["Done."]])]
    cast = Cast(loop, TEAM, parts)

    run = cast.play(QUESTION)

    cast.reached()
    run.delivered(1)
    went = {name for received in run.requests[1:] if (name := asker(received.request, TEAM)) is not None} - {"front"}
    if isinstance(run.outcome, Failed) and not went:
        loop.answers("error-for-the-caller", error_text(run.outcome))
        return
    run.request(2)
    loop.answers(
        "both" if len(went) > 1 else {"billing": "the-first", "travel": "the-last"}.get("".join(went), "neither")
    )


@trait("agent-of-the-next-turn")
def test_next(loop: Loop) -> None:
    """The user goes on with a conversation that was handed over."""
    talk = Talk(loop)
    cast = Cast(loop, TEAM, [Part("front", [[over("billing")]]), Part("billing", [["It is settled."]])])
    loop.scenario.listens(cast.turn)
    first = talk.run(QUESTION, **cast.how)
    cast.reached()
    first.request(2)
    cast = Cast(loop, TEAM, [Part(agent.name, [["You are welcome."]]) for agent in TEAM])
    loop.scenario.listens(cast.turn)

    run = talk.run("Thank you.", **cast.how)

    loop.answers("the-first" if asker(run.request(1).request, TEAM) == "front" else "the-last")


def _consulted(loop: Loop) -> Run:
    """A run in which an agent calls another twice, one time after the other."""
    parts = [
        Part("front", [[asks("billing", TASKS[0])], [asks("billing", TASKS[1])], ["All is done."]]),
        Part("billing", [["The maple is done."], ["The cedar is done."]]),
    ]
    cast = Cast(loop, BELOW, parts)
    run = loop.once("consulted", lambda: cast.play(QUESTION))
    cast.reached()
    if not requests_of(run, BELOW, "billing"):
        raise NotReached(f"the sub-agent was never asked; the loop {run.outcome}")
    return run


@trait("what-a-sub-agent-is-told")
def test_told(loop: Loop) -> None:
    """The first request of a sub-agent."""
    received = requests_of(_consulted(loop), BELOW, "billing")[0]

    loop.answers("the-question" if QUESTION in words_of(received.request) else "the-task")


@trait("memory-of-a-sub-agent")
def test_memory(loop: Loop) -> None:
    """The second task of a sub-agent."""
    run = _consulted(loop)

    found = [one for one in requests_of(run, BELOW, "billing") if TASKS[1] in words_of(one.request)]
    if not found:
        raise NotReached(f"the sub-agent was not asked a second time; the loop {run.outcome}")
    loop.answers("remembers" if TASKS[0] in words_of(found[0].request) else "forgets")
