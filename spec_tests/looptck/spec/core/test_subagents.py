"""Agents as tools: a sub-agent has a conversation of its own, and its answer is the result of the call."""

from __future__ import annotations

from dataclasses import replace

import pytest

from looptck.bench.assertions.caller import shows_failure
from looptck.bench.assertions.failure_texts import claims_success, tells_of_failure
from looptck.bench.bench import Scenario
from looptck.bench.checks import Implementation, on, requirement
from looptck.bench.run import Run
from looptck.provider.faults import HttpError
from looptck.provider.gate import Gate
from looptck.provider.gates import ABSENCE, cancelled_run_ended
from looptck.provider.script import RUNAWAY_CAP, Step
from looptck.spec.cancelling import cancelled_at, require_cancelling
from looptck.spec.casting import (
    BILLING,
    FRONT,
    OVER,
    TOOLS,
    TRAVEL,
    Cast,
    Line,
    Part,
    asker,
    asks,
    instructed,
    offered,
    requests_of,
    words_of,
)
from looptck.spec.conversing import accepted
from looptck.spec.obeying import STOPS, may_not_call
from looptck.values.history import Answered, Asked, Said, holds
from looptck.values.team import Member
from looptck.values.transcript import Cancelled, Event, Received, ToolBegan
from looptck.values.turns import Call, says
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


def _cast(implementation: Implementation, *lines: Line) -> Cast:
    """A cast in which the first agent has a task done, and the sub-agent says these lines."""
    return Cast(implementation, AGENTS, [Part("front", [[asks("billing", TASK)], [DONE]]), Part("billing", lines)])


def _played(implementation: Implementation, *beside: str) -> Run:
    """A run in which a sub-agent uses a tool and answers; ``beside``: what it says beside its call.

    Raises:
        NotReached: it was not asked.
    """
    cast = _cast(implementation, [*beside, REFUND], [REPORT])
    run = cast.play(QUESTION)
    cast.reached()
    run.request(2)
    return run


def _outer(run: Run, n: int) -> Received:
    """The ``n``-th request of the first agent. NotReached if there was none."""
    found = requests_of(run, AGENTS, "front")
    if len(found) < n:
        raise NotReached(f"the agent front made {len(found)} requests, not {n}; the loop {run.outcome}")
    return found[n - 1]


def _inner(run: Run) -> Received:
    """The first request after the call of the sub-agent. NotReached if it is the first agent's again."""
    received = run.request(2)
    ids = {call.id for call in run.delivered(1).calls}
    if any(one.id in ids for one in run.normalized(2).answers):
        raise NotReached("request 2 has a result for the call of the sub-agent, which was never asked")
    return received


def _results(run: Run, n: int) -> list[str]:
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


@requirement("subagent-is-offered")
@pytest.mark.parametrize("target", ["billing", "travel"])
def test_it_is_offered(implementation: Implementation, target: str) -> None:
    """The first request offers a tool for each sub-agent."""
    cast = Cast(implementation, AGENTS, [Part("front", [[asks(target, TASK)], [DONE]])])

    run = cast.play(QUESTION)

    run.request(1)
    assert not cast.missing, f"{cast.missing[0]}; a driver whose loop names it otherwise declares `agent_tools`"


@requirement("subagent-answer-is-the-result")
@pytest.mark.parametrize("beside", [(), ("I look that up.",)], ids=["after-a-call", "after-words-beside-a-call"])
def test_answer(implementation: Implementation, beside: tuple[str, ...]) -> None:
    """The first agent gets the answer as the result of its call, and gives the answer of the run."""
    run = _played(implementation, *beside)

    [text] = _results(run, _outer(run, 2).n)
    assert REPORT in text or holds(text, REPORT), f"the sub-agent answers {REPORT!r}, and the result is {text!r}"
    assert DONE == (run.value.text or "").strip(), f"the first agent answers {DONE!r}, and the loop {run.outcome}"


@requirement("subagent-gets-its-instructions-and-task")
def test_instructions_and_task(implementation: Implementation) -> None:
    """The sub-agent is asked with its own instructions, and with what the call says."""
    run = _played(implementation)

    request = _inner(run).request
    found = instructed(request, AGENTS)
    assert "billing" in found, (
        f"the sub-agent billing is asked with the instructions of {', '.join(found) or 'no agent'}"
    )
    assert TASK in words_of(request), f"the call says {TASK!r}, and the request of the sub-agent does not have it"


@requirement("tools-of-agents-stay-apart")
def test_tools(implementation: Implementation) -> None:
    """Each agent is offered its own tools, and the tool of the sub-agent runs."""
    run = _played(implementation)

    _inner(run)
    for received in run.requests:
        name = asker(received.request, AGENTS)
        own: Member | None = next((agent for agent in AGENTS if agent.name == name), None)
        if own is None:
            continue
        there = offered(received)
        assert {*own.tools} <= there, f"request {received.n}, of {name}, does not offer its tool {own.tools[0]}"
        assert {*own.tools} >= there, (
            f"request {received.n}, of {name}, offers {min(there - {*own.tools})}, a tool of another agent"
        )
    ran = [tool for tool, _ in run.tools_ran]
    assert ran, "the tool that the sub-agent called did not run"
    assert ["refund"] == ran, f"the sub-agent called refund, and these tools ran: {', '.join(ran)}"


@requirement("tool-of-another-agent-does-not-run")
def test_a_tool_of_another_agent(implementation: Implementation) -> None:
    """The first agent calls a tool that only its sub-agent has, and it does not run; the sub-agent's own call does."""
    allowed = _played(implementation)
    if "refund" not in [tool for tool, _ in allowed.tools_ran]:
        raise NotReached(f"control: the sub-agent's call of refund should run; the loop {allowed.outcome}")
    cast = Cast(implementation, AGENTS, [Part("front", [[REFUND], [DONE]])])

    run = cast.play(QUESTION)

    run.delivered(1)
    assert not run.ran, "the agent front calls refund, a tool of billing that it was not offered, and it ran"


@requirement("subagent-conversation-stays-apart")
def test_conversation(implementation: Implementation) -> None:
    """Of the conversation of the sub-agent the first agent gets nothing but the result of its call."""
    run = _played(implementation)

    outer = _outer(run, 2)
    ids = {call.id for call in run.delivered(1).calls}
    for item in run.normalized(outer.n).items:
        if isinstance(item, Asked | Answered) and item.id in ids:
            continue
        inner = isinstance(item, Asked) and item.tool == "refund"
        said = isinstance(item, Said) and any(words in item.text for words in (TASK, REPORT))
        leaks = inner or said
        assert not leaks, f"request {outer.n}, of the first agent, has of the sub-agent's conversation: {item}"


@requirement("subagent-gets-no-earlier-calls")
def test_conversation_of_the_first_agent(implementation: Implementation) -> None:
    """The first agent has used a tool before it calls the sub-agent, which gets neither the call nor its result."""
    earlier = Call.of("lookup", {"customer": "Ms Fig"})
    parts = [Part("front", [[earlier], [asks("billing", TASK)], [DONE]]), Part("billing", [[REPORT]])]
    cast = Cast(implementation, AGENTS, parts)

    run = cast.play(QUESTION)

    cast.reached()
    inner = next(iter(requests_of(run, AGENTS, "billing")), None)
    if inner is None:
        raise NotReached(f"the sub-agent was never asked; the loop {run.outcome}")
    for item in run.normalized(inner.n).items:
        leaks = isinstance(item, Asked | Answered)
        assert not leaks, (
            f"request {inner.n}, the first of the sub-agent, has of the first agent's conversation: {item}"
        )


@requirement("agent-goes-on-after-its-subagent")
def test_going_on(implementation: Implementation) -> None:
    """The first agent has used a tool and called a sub-agent, and its next request still has all that was there."""
    earlier = Call.of("lookup", {"customer": "Ms Fig"})
    parts = [Part("front", [[earlier], [asks("billing", TASK)], [DONE]]), Part("billing", [[REPORT]])]
    cast = Cast(implementation, AGENTS, parts)

    run = cast.play(QUESTION)

    cast.reached()
    outer = _outer(run, 3)
    assert "front" in instructed(outer.request, AGENTS), (
        f"request {outer.n} comes after the answer of a sub-agent, and has no more the instructions of front"
    )
    assert QUESTION in words_of(outer.request), (
        f"request {outer.n} comes after the answer of a sub-agent, and has no more the question {QUESTION!r}"
    )
    asked = [one.tool for one in run.normalized(outer.n).asked]
    assert "lookup" in asked, (
        f"request {outer.n} comes after the answer of a sub-agent, and has no more the earlier call of lookup"
    )


TWO: dict[str, tuple[tuple[str, str], tuple[str, str]]] = {
    "two-agents": (("billing", "maple"), ("travel", "cedar")),
    "one-agent-twice": (("billing", "maple"), ("billing", "cedar")),
}


@requirement("two-subagents-stay-apart")
@pytest.mark.parametrize("two", TWO.values(), ids=TWO)
def test_two(scenario: Scenario, implementation: Implementation, two: tuple[tuple[str, str], ...]) -> None:
    """Two calls in one turn ask sub-agents: each has its answer as its result, or words why there is none.

    Of a loop that runs calls at the same time the first conversation goes on only when the second has begun.
    """
    works = {
        "billing": lambda word: Call.of("refund", {"order": word}),
        "travel": lambda word: Call.of("book", {"city": word}),
    }
    inner = [
        Part(name, [[works[name](word)], [f"The {word} is done."]], hears=f"about the {word}") for name, word in two
    ]
    first: Line = [asks(name, f"See about the {word}.") for name, word in two]
    cast = Cast(implementation, AGENTS, [Part("front", [first, [DONE]]), *inner])
    held = Gate("another sub-agent asks", _third, patience=ABSENCE, of_silence=True, if_ever=True)
    before = held if implementation.started.can("parallel") else None
    scenario.plays(Step(None, by=cast.turn), Step(None, by=cast.turn, before=before))
    scenario.listens(cast.turn)

    run = implementation.run(QUESTION, **cast.how)

    cast.reached()
    run.request(2)
    texts = _results(run, _outer(run, 2).n)
    said = "\n".join(turn.text or "" for turn in run.turns.values())
    spoiled = any(part.said > len(part.lines) for part in inner)
    for (_, word), text in zip(two, texts, strict=True):
        told = f"The {word} is done."
        assert told in text or told not in said, (
            f"the sub-agent answers {told!r}, and the result of its call is {text!r}"
        )
        strays = spoiled and told not in text and (OVER.text or "") in text
        assert not strays, f"the sub-agent that is asked about the {word} goes on with the conversation of another call"
        [other] = [one for _, one in two if one != word]
        assert f"The {other} is done." not in text, f"the result of the call about the {word} is {text!r}"
        assert text.strip(), f"the result of the call about the {word} is empty"
    for received in run.requests:
        accepted(received)


def _third(event: Event) -> bool:
    return isinstance(event, Received) and event.n > 2


@requirement("failed-subagent-is-told")
def test_failed(scenario: Scenario, implementation: Implementation) -> None:
    """The service refuses the request of the sub-agent: the first agent is told, or the caller."""
    cast = _cast(implementation)
    scenario.plays(Step(None, by=cast.turn), HttpError(400, message="The register of invoices is closed."))
    scenario.listens(cast.turn)

    run = implementation.run(QUESTION, **cast.how)

    cast.reached()
    _inner(run)
    if shows_failure(run) and len(requests_of(run, AGENTS, "front")) == 1:
        return
    _is_told(run, "failed")


@requirement("failed-subagent-is-told")
def test_at_its_limit(scenario: Scenario, implementation: Implementation) -> None:
    """The sub-agent calls its tool until its limit ends that: the first agent is told, or the caller.

    One whose limit is higher than the rounds that it is let play answers after them.
    """
    implementation.needs("limit")
    cast = _endless(implementation, ROUNDS)
    scenario.listens(lambda body: says(STOPS) if may_not_call(body) else cast.turn(body), most=RUNAWAY)

    run = implementation.run(QUESTION, agents=AGENTS, tools=TOOLS, limit=LIMIT)

    cast.reached()
    _inner(run)
    if len(requests_of(run, AGENTS, "front")) == 1:
        return
    _is_told(run, "was stopped at its limit")


@requirement("cut-subagent-answer-is-told")
def test_cut(scenario: Scenario, implementation: Implementation) -> None:
    """The token limit cuts the answer of the sub-agent: its result has more than the beginning, or the caller is told.

    A loop may also have it go on.
    """
    cast = _cast(implementation, [REPORT])
    scenario.plays(Step(None, by=cast.turn), says(BEGINNING, stop="length"))
    scenario.listens(cast.turn)

    run = implementation.run(QUESTION, **cast.how)

    cast.reached()
    run.delivered(2)
    _inner(run)
    if shows_failure(run):
        return
    [text] = _results(run, _outer(run, 2).n)
    told = REPORT in text or tells_of_failure(text.replace(BEGINNING, " "))
    assert told, f"the answer of the sub-agent was cut, and the result of its call is {text!r}, as if it were whole"


def _is_told(run: Run, what: str) -> None:
    """The result of the call of a sub-agent that has no answer has words, which do not just say that all is well."""
    [text] = _results(run, _outer(run, 2).n)
    told = bool(text.strip().strip("\"'{}[]").strip()) and not claims_success(text)
    assert told, f"the sub-agent {what}, and the result of its call is {text!r}"


def _endless(implementation: Implementation, rounds: int = RUNAWAY) -> Cast:
    return _cast(implementation, *([Call.of("refund", {"order": str(n)})] for n in range(rounds)))


@requirement("endless-subagent-ends")
def test_endless(implementation: Implementation) -> None:
    """The sub-agent calls its tool again and again, and something ends that."""
    cast = _endless(implementation)

    run = cast.play(QUESTION, most=RUNAWAY, limit=LIMIT)

    cast.reached()
    _inner(run)
    assert not run.is_endless(RUNAWAY), f"the sub-agent was asked again and again, in {len(run.requests)} requests"


@requirement("cancelled-run-cancels-its-subagents")
def test_cancelled(scenario: Scenario, implementation: Implementation) -> None:
    """The run is cancelled while the service answers the sub-agent, which then does nothing more."""
    require_cancelling(implementation)
    cast = _cast(implementation, [REFUND], [REPORT])
    gate = cancelled_run_ended()
    scenario.plays(Step(None, by=cast.turn), Step(None, by=cast.turn, before=gate))
    scenario.listens(cast.turn)

    run = cancelled_at(gate, implementation, implementation.begin(QUESTION, **cast.how))

    cast.reached()
    events = run.transcript.events
    place = next(at for at, event in enumerate(events) if isinstance(event, Cancelled))
    later = [event for event in events[place:] if isinstance(event, Received | ToolBegan)]
    assert not later, "after the run was cancelled, its sub-agent went on"


@requirement("subagent-text-is-not-the-answer")
@on("*/stream/*")
def test_chunks(implementation: Implementation) -> None:
    """The caller gets the text of the first agent while it arrives, and not that of the sub-agent."""
    run = _played(implementation)

    got = "".join(chunk.text for chunk in run.chunks)
    run.delivered(_outer(run, 2).n)
    assert REPORT not in got, f"the caller received {got!r}, with the answer of the sub-agent"
