"""Agents as tools: a sub-agent has a conversation of its own, and its answer is the result of the call."""

from __future__ import annotations

import pytest

from looptck.bench.checks import Implementation, requirement
from looptck.bench.scenario import Scenario
from looptck.provider.gate import Gate
from looptck.provider.gates import ABSENCE
from looptck.provider.script import Step
from looptck.spec.casting import (
    OVER,
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
from looptck.spec.delegating import (
    AGENTS,
    DONE,
    QUESTION,
    REFUND,
    REPORT,
    TASK,
    inner,
    outer,
    played,
    results,
)
from looptck.values.history import Answered, Asked, Said, holds
from looptck.values.team import Member
from looptck.values.transcript import Event, Received
from looptck.values.turns import Call
from looptck.values.verdicts import NotReached


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
    run = played(implementation, *beside)

    [text] = results(run, outer(run, 2).n)
    assert REPORT in text or holds(text, REPORT), f"the sub-agent answers {REPORT!r}, and the result is {text!r}"
    assert DONE == (run.value.text or "").strip(), f"the first agent answers {DONE!r}, and the loop {run.outcome}"


@requirement("subagent-gets-its-instructions-and-task")
def test_instructions_and_task(implementation: Implementation) -> None:
    """The sub-agent is asked with its own instructions, and with what the call says."""
    run = played(implementation)

    request = inner(run).request
    found = instructed(request, AGENTS)
    assert "billing" in found, (
        f"the sub-agent billing is asked with the instructions of {', '.join(found) or 'no agent'}"
    )
    assert TASK in words_of(request), f"the call says {TASK!r}, and the request of the sub-agent does not have it"


@requirement("tools-of-agents-stay-apart")
def test_tools(implementation: Implementation) -> None:
    """Each agent is offered its own tools, and the tool of the sub-agent runs."""
    run = played(implementation)

    inner(run)
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
    allowed = played(implementation)
    if "refund" not in [tool for tool, _ in allowed.tools_ran]:
        raise NotReached(f"control: the sub-agent's call of refund should run; the loop {allowed.outcome}")
    cast = Cast(implementation, AGENTS, [Part("front", [[REFUND], [DONE]])])

    run = cast.play(QUESTION)

    run.delivered(1)
    assert not run.ran, "the agent front calls refund, a tool of billing that it was not offered, and it ran"


@requirement("subagent-conversation-stays-apart")
def test_conversation(implementation: Implementation) -> None:
    """Of the conversation of the sub-agent the first agent gets nothing but the result of its call."""
    run = played(implementation)

    received = outer(run, 2)
    ids = {call.id for call in run.delivered(1).calls}
    for item in run.normalized(received.n).items:
        if isinstance(item, Asked | Answered) and item.id in ids:
            continue
        inner = isinstance(item, Asked) and item.tool == "refund"
        said = isinstance(item, Said) and any(words in item.text for words in (TASK, REPORT))
        leaks = inner or said
        assert not leaks, f"request {received.n}, of the first agent, has of the sub-agent's conversation: {item}"


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
    received = outer(run, 3)
    assert "front" in instructed(received.request, AGENTS), (
        f"request {received.n} comes after the answer of a sub-agent, and has no more the instructions of front"
    )
    assert QUESTION in words_of(received.request), (
        f"request {received.n} comes after the answer of a sub-agent, and has no more the question {QUESTION!r}"
    )
    asked = [one.tool for one in run.normalized(received.n).asked]
    assert "lookup" in asked, (
        f"request {received.n} comes after the answer of a sub-agent, and has no more the earlier call of lookup"
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
    texts = results(run, outer(run, 2).n)
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
