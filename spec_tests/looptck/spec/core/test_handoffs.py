"""Handoffs: an agent hands the conversation over to another, which goes on with it and answers the user."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import pytest

from looptck.bench.assertions.caller import shows_failure
from looptck.bench.checks import Implementation, requirement
from looptck.bench.run import Run
from looptck.bench.talk import Talk
from looptck.provider.script import RUNAWAY_CAP
from looptck.spec.casting import (
    BILLING,
    FRONT,
    TRAVEL,
    Cast,
    Line,
    Part,
    answered,
    asker,
    instructed,
    offered,
    over,
    taken_over,
    words_of,
)
from looptck.spec.conversing import accepted
from looptck.spec.obeying import may_not_call
from looptck.values.history import Answered, Said
from looptck.values.outcome import Failed
from looptck.values.team import Member
from looptck.values.transcript import Received
from looptck.values.turns import Call
from looptck.values.verdicts import NotReached

QUESTION = "Why was order 4711 billed twice?"
SETTLED = "Order 4711 was billed once, and 12 euros come back."
AGENTS = (
    replace(FRONT, handoffs=["billing", "travel"]),
    replace(BILLING, handoffs=["front"]),
    replace(TRAVEL, handoffs=["front"]),
)
LOOKUP, REFUND = Call.of("lookup", {"customer": "Ada"}), Call.of("refund", {"order": "4711"})
LIMIT = 6
RUNAWAY = RUNAWAY_CAP
"""More than any default limit lets pass, as the limit of the run may not be that of each agent."""
WAYS: dict[str, list[tuple[str, Line]]] = {
    "over": [("front", [over("billing")]), ("billing", [REFUND]), ("billing", [SETTLED])],
    "with-words": [("front", ["One moment.", over("billing")]), ("billing", [SETTLED])],
    "and-back": [("front", [over("billing")]), ("billing", [over("front")]), ("front", ["Good day."])],
}
"""Conversations: who says what."""


def _cast(implementation: Implementation, *lines: tuple[str, Line]) -> Cast:
    """A cast in which the agents say these lines."""
    parts = [Part(agent.name, [line for name, line in lines if name == agent.name]) for agent in AGENTS]
    return Cast(implementation, AGENTS, parts)


def _after_a_handoff(implementation: Implementation, *lines: tuple[str, Line]) -> Run:
    """A run whose first turn hands over. NotReached if it cannot, or nothing follows."""
    cast = _cast(implementation, *lines)
    run = cast.play(QUESTION)
    cast.reached()
    run.delivered(1)
    return run


def _handed(run: Run, lines: Sequence[tuple[str, Line]]) -> Iterator[tuple[Received, Member]]:
    """The requests with which the conversation goes on after each handoff, and the agents that should make them."""
    turn = 1
    for (before, _), (name, _) in pairwise(lines):
        if before == name:
            continue
        received = taken_over(run, AGENTS, turn)
        yield received, next(agent for agent in AGENTS if agent.name == name)
        turn = received.n


def _ways() -> pytest.MarkDecorator:
    return pytest.mark.parametrize("lines", WAYS.values(), ids=WAYS)


@requirement("handoff-is-offered")
@pytest.mark.parametrize("target", ["billing", "travel"])
def test_it_is_offered(implementation: Implementation, target: str) -> None:
    """The first request offers a tool for each agent that may take over."""
    cast = _cast(implementation, ("front", [over(target)]))

    run = cast.play(QUESTION)

    run.request(1)
    assert not cast.missing, f"{cast.missing[0]}; a driver whose loop names it otherwise declares `agent_tools`"


@requirement("handoff-is-answered")
@_ways()
def test_it_is_answered(implementation: Implementation, lines: Sequence[tuple[str, Line]]) -> None:
    """The call that hands over has one result wherever it is sent again."""
    run = _after_a_handoff(implementation, *lines)

    run.request(2)
    _all_answered(run, *run.turns)


@requirement("handoff-changes-the-agent")
@_ways()
def test_instructions(implementation: Implementation, lines: Sequence[tuple[str, Line]]) -> None:
    """The request after a handoff has the instructions of the agent that was named."""
    run = _after_a_handoff(implementation, *lines)

    for received, agent in _handed(run, lines):
        found = instructed(received.request, AGENTS)
        assert agent.name in found, (
            f"request {received.n} comes after a handoff to {agent.name}, and has the instructions of "
            f"{', '.join(found) or 'no agent'}"
        )


@requirement("handoff-changes-the-tools")
@_ways()
def test_tools(implementation: Implementation, lines: Sequence[tuple[str, Line]]) -> None:
    """The request after a handoff offers the tools of the agent that was named, and those of no other."""
    run = _after_a_handoff(implementation, *lines)

    for received, agent in _handed(run, lines):
        own, there = {*agent.tools}, offered(received)
        after = f"request {received.n} comes after a handoff to {agent.name}, and"
        assert own <= there, f"{after} does not offer its tool {min(own - there)}"
        assert own >= there, f"{after} offers {min(there - own)}, a tool of another agent"


@requirement("handoff-changes-the-tools")
def test_calls_run(implementation: Implementation) -> None:
    """The agent that has taken over calls its tool, which runs."""
    run = _after_a_handoff(implementation, *WAYS["over"])

    received = taken_over(run, AGENTS, 1)
    if "billing" not in instructed(received.request, AGENTS):
        raise NotReached(f"request {received.n} comes after a handoff to billing, and has not its instructions")
    run.delivered(received.n)
    ran = [tool for tool, _ in run.tools_ran]
    assert ["refund"] == ran, (
        f"the agent billing, which has taken over, calls its tool refund; tools that ran: {', '.join(ran) or 'none'}"
    )


@requirement("tool-of-another-agent-does-not-run")
def test_a_tool_of_the_agent_before(implementation: Implementation) -> None:
    """The agent that has taken over calls a tool of the one before, and it does not run; its own does."""
    implementation.needs("handoffs")
    allowed = _after_a_handoff(implementation, *WAYS["over"])
    if "refund" not in [tool for tool, _ in allowed.tools_ran]:
        raise NotReached(f"control: the call of refund should run; the loop {allowed.outcome}")

    run = _after_a_handoff(implementation, ("front", [over("billing")]), ("billing", [LOOKUP]), ("billing", [SETTLED]))

    run.delivered(taken_over(run, AGENTS, 1).n)
    assert not run.ran, "the agent billing calls lookup, a tool of the agent before it, and it ran"


@requirement("question-survives-a-handoff")
def test_question(implementation: Implementation) -> None:
    """The agent that takes over gets what the user has asked."""
    run = _after_a_handoff(implementation, *WAYS["over"])

    received = taken_over(run, AGENTS, 1)
    asked = QUESTION in words_of(received.request)
    assert asked, f"request {received.n}, after the handoff, does not have the user's question"


@requirement("question-comes-once-after-a-handoff")
def test_question_once(implementation: Implementation) -> None:
    """The agent that takes over gets the question as words of the user not more than once."""
    received = taken_over(_after_a_handoff(implementation, *WAYS["over"]), AGENTS, 1)

    users = [one for one in received.request.items if isinstance(one, Said) and one.role == "user"]
    count = sum(one.text.strip() == QUESTION for one in users)
    assert count < 2, f"request {received.n}, after the handoff, has the user's question {count} times"


@requirement("target-of-a-handoff-answers")
@_ways()
def test_target_answers(implementation: Implementation, lines: Sequence[tuple[str, Line]]) -> None:
    """The answer of the agent that has the conversation in the end is that of the run."""
    run = _after_a_handoff(implementation, *lines)

    name, [answer] = lines[-1]
    asked = [asker(received.request, AGENTS) for received in run.requests]
    got = (run.value.text or "").strip()
    assert len(asked) > 1, f"the agent that took over was never asked, and the loop {run.outcome}"
    assert answer == got, (
        f"{name} answers {answer!r}, and the loop {run.outcome}; asked were {', '.join(map(str, asked))}"
    )


@requirement("two-handoffs-leave-no-orphan")
def test_two_handoffs(implementation: Implementation) -> None:
    """The model hands over to two agents in one turn: one goes on, or both, or somebody is told."""
    run = _after_a_handoff(
        implementation,
        ("front", [over("billing"), over("travel")]),
        ("front", ["Neither of them, then."]),
        ("billing", [SETTLED]),
        ("travel", ["There is a train at noon."]),
    )

    _goes_on_or_is_told(run)
    _all_answered(run, 1)


@requirement("call-beside-a-handoff-is-not-lost")
@pytest.mark.parametrize("first", ["call", "handoff"])
def test_call_beside(implementation: Implementation, first: str) -> None:
    """A turn has a handoff and another call: each takes effect, or the model or the caller is told that it did not."""
    both: Line = [LOOKUP, over("billing")] if first == "call" else [over("billing"), LOOKUP]
    run = _after_a_handoff(implementation, ("front", both), ("front", ["Never mind."]), ("billing", [SETTLED]))

    _goes_on_or_is_told(run)
    _all_answered(run, 1)
    told = _is_told_of_the_lookup(run)
    assert run.ran or told or shows_failure(run), (
        f"the call of lookup beside the handoff did not run, and nothing says so: the loop {run.outcome}"
    )
    _handed_or_told(implementation, run)


def _is_told_of_the_lookup(run: Run) -> bool:
    """Whether the model reads a result of the call or words that name it, or an event tells the caller its result."""
    [id] = [call.id for call in run.delivered(1).calls if call.tool == "lookup"]
    later = run.requests[1:]
    answered = any(one.id == id for received in later for one in run.normalized(received.n).answers)
    said = (item.text for received in later for item in received.request.items if isinstance(item, Said))
    ids = {id} | {one["call_id"] for one in run.told if one["kind"] == "call" and one["name"] == "lookup"} - {None}
    results = [one for one in run.told if one["kind"] == "result" and one["call_id"] in ids]
    shown = any(one.get("failed") or one.get("result") not in (None, "") for one in results)
    return answered or shown or any("lookup" in words for words in said)


@requirement("call-beside-a-handoff-is-not-lost")
def test_the_same_handoff_twice(implementation: Implementation) -> None:
    """A turn hands over to the same agent twice: it goes on, or the model or the caller is told that it does not."""
    twice: Line = [over("billing"), over("billing")]
    run = _after_a_handoff(implementation, ("front", twice), ("front", ["Never mind."]), ("billing", [SETTLED]))

    _goes_on_or_is_told(run)
    _all_answered(run, 1)
    _handed_or_told(implementation, run)


def _handed_or_told(implementation: Implementation, run: Run) -> None:
    """The handoff beside another call takes place, or its result is another than that of a handoff that does."""
    if shows_failure(run) or _asked(run, "billing"):
        return
    alone = _after_a_handoff(implementation, ("front", [over("billing")]), ("billing", [SETTLED]))
    if not _asked(alone, "billing"):
        raise NotReached(f"alone in its turn, the handoff changes nothing: the loop {alone.outcome}")
    told = _result_of_the_handoff(run)

    assert told is None or told != _result_of_the_handoff(alone), (
        f"after the handoff beside another call billing was not asked; the result of the handoff is {told!r}, "
        "as of one that takes place"
    )


def _asked(run: Run, name: str) -> bool:
    return any(asker(received.request, AGENTS) == name for received in run.requests)


def _result_of_the_handoff(run: Run) -> str | None:
    """The first result of the call that hands over; None: it is carried nowhere."""
    ids = {call.id for call in run.delivered(1).calls if call.tool != "lookup"}
    found = (one.text for received in run.requests[1:] for one in run.normalized(received.n).answers if one.id in ids)
    return next(found, None)


def _all_answered(run: Run, *turns: int) -> None:
    """Assert that the calls of these turns have one result each, in the places where the service wants them."""
    for n in turns:
        answered(run, n)
    for received in run.requests[1:]:
        accepted(received)


def _goes_on_or_is_told(run: Run) -> None:
    """Assert that a run goes on, or that its caller sees that there is no answer."""
    assert len(run.requests) > 1 or shows_failure(run), (
        f"after turn 1 the model is not asked again, and the loop {run.outcome}"
    )


@requirement("unknown-agent-is-told")
def test_no_such_agent(implementation: Implementation) -> None:
    """The model hands over to an agent that there is not: it or the caller is told."""
    cast = _cast(implementation, ("front", [over("billing", stranger="nowhere")]), ("front", ["I am sorry."]))

    run = cast.play(QUESTION)

    cast.reached()
    run.delivered(1)
    if isinstance(run.outcome, Failed) and len(run.requests) == 1:
        return
    _goes_on_or_is_told(run)
    _all_answered(run, 1)
    if not shows_failure(run):
        _is_told_of_the_stranger(implementation, run)


def _is_told_of_the_stranger(implementation: Implementation, run: Run) -> None:
    """Assert that the result of the call on no agent says what no handoff says; other words tell too."""
    got = _result(run)
    if got is None or got.failed or len(_said(run, 2)) > len(_said(run, 1)):
        return
    as_well = _result(_after_a_handoff(implementation, *WAYS["over"]))
    if as_well is None:
        return
    said = _words(got.text.replace("nowhere", "billing"))
    told = not _words(as_well.text).startswith(said)
    assert told, (
        f"the model hands over to nowhere, an agent that there is not, and the result says {got.text!r}; that of a "
        f"handoff to billing says {as_well.text!r}"
    )


def _result(run: Run) -> Answered | None:
    """The result of the call of turn 1 in request 2; None if a loop hands the conversation over without its calls."""
    [call] = run.delivered(1).calls
    return next((one for one in run.normalized(2).answers if one.id == call.id), None)


def _said(run: Run, n: int) -> list[Said]:
    return [item for item in run.request(n).request.items if isinstance(item, Said)]


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def _endless(implementation: Implementation) -> Run:
    """Two agents hand over to each other for ever, under a limit."""
    lines: list[tuple[str, Line]] = [("front", [over("billing")]), ("billing", [over("front")])]
    cast = _cast(implementation, *lines * RUNAWAY)
    run = cast.play(QUESTION, most=RUNAWAY, limit=LIMIT)
    if not may_not_call(run.requests[-1].body if run.requests else None):
        cast.reached()
    if len(run.requests) < 2:
        raise NotReached(f"the conversation was never handed over: the loop {run.outcome}")
    return run


@requirement("endless-handoffs-end")
def test_endless_handoffs(implementation: Implementation) -> None:
    """Two agents hand over to each other, and something ends that."""
    run = _endless(implementation)

    assert not run.is_endless(RUNAWAY), (
        f"two agents handed over to each other in {len(run.requests)} requests; the limit of {LIMIT} did not end that"
    )


@requirement("limit-counts-all-agents")
def test_limit_of_all(implementation: Implementation) -> None:
    """The model is asked no more often than by one agent alone."""
    most = LIMIT + (implementation.started.dialect.get("limit_counts") == "tool-rounds")

    run = _endless(implementation)

    made = len(run.requests)
    assert made <= most, f"under the limit of {LIMIT} two agents, handing over to each other, made {made} requests"


@requirement("turn-after-a-handoff-is-accepted")
@pytest.mark.parametrize("handed", ["over", "with-words"])
def test_next_turn(implementation: Implementation, handed: str) -> None:
    """The user goes on with a conversation that was handed over."""
    talk = Talk(implementation)
    cast = _cast(implementation, *WAYS[handed])
    implementation.scenario.listens(cast.turn)
    first = talk.run(QUESTION, **cast.how)
    cast.reached()
    if len(first.requests) < 2:
        raise NotReached(f"the conversation was never handed over: the loop {first.outcome}")
    cast = _cast(implementation, *((agent.name, ["You are welcome."]) for agent in AGENTS))
    implementation.scenario.listens(cast.turn)

    run = talk.run("And is that for sure?", **cast.how)

    request = run.request(1)
    accepted(request)
    words = words_of(request.request)
    assert "And is that for sure?" in words, "the request of the second turn does not have its question"
    assert QUESTION in words, "the request of the second turn does not have the question of the first"
    assert "You are welcome." == (run.value.text or "").strip(), f"the second run {run.outcome}"


@requirement("chunks-join-to-the-answer")
def test_chunks_after_a_handoff(implementation: Implementation) -> None:
    """The agent that took the conversation over answers: its answer reaches the caller while it is written, too."""
    implementation.needs("handoffs")
    run = _after_a_handoff(implementation, *WAYS["over"])

    run.delivered(3)
    joined = "".join(chunk.text for chunk in run.chunks)
    assert joined.endswith(SETTLED), (
        f"the agent that took over has answered {SETTLED!r}, and the pieces that the caller got join to {joined!r}"
    )
