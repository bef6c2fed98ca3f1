"""How sub-agents end: by a failure, at a limit, cut, cancelled, or never; and what of it reaches the caller."""

from __future__ import annotations

from looptck.bench.assertions.caller import shows_failure
from looptck.bench.assertions.failure_texts import claims_success, tells_of_failure
from looptck.bench.checks import Implementation, on, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.provider.faults import HttpError
from looptck.provider.gates import cancelled_run_ended
from looptck.provider.script import Step
from looptck.spec.cancelling import cancelled_at, require_cancelling
from looptck.spec.casting import TOOLS, Cast, requests_of
from looptck.spec.delegating import (
    AGENTS,
    BEGINNING,
    LIMIT,
    QUESTION,
    REFUND,
    REPORT,
    ROUNDS,
    RUNAWAY,
    cast_of,
    inner,
    outer,
    played,
    results,
)
from looptck.spec.obeying import STOPS, may_not_call
from looptck.values.transcript import Cancelled, Received, ToolBegan
from looptck.values.turns import Call, says


@requirement("failed-subagent-is-told")
def test_failed(scenario: Scenario, implementation: Implementation) -> None:
    """The service refuses the request of the sub-agent: the first agent is told, or the caller."""
    cast = cast_of(implementation)
    scenario.plays(Step(None, by=cast.turn), HttpError(400, message="The register of invoices is closed."))
    scenario.listens(cast.turn)

    run = implementation.run(QUESTION, **cast.how)

    cast.reached()
    inner(run)
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
    inner(run)
    if len(requests_of(run, AGENTS, "front")) == 1:
        return
    _is_told(run, "was stopped at its limit")


@requirement("cut-subagent-answer-is-told")
def test_cut(scenario: Scenario, implementation: Implementation) -> None:
    """The token limit cuts the answer of the sub-agent: its result has more than the beginning, or the caller is told.

    A loop may also have it go on.
    """
    cast = cast_of(implementation, [REPORT])
    scenario.plays(Step(None, by=cast.turn), says(BEGINNING, stop="length"))
    scenario.listens(cast.turn)

    run = implementation.run(QUESTION, **cast.how)

    cast.reached()
    run.delivered(2)
    inner(run)
    if shows_failure(run):
        return
    [text] = results(run, outer(run, 2).n)
    told = REPORT in text or tells_of_failure(text.replace(BEGINNING, " "))
    assert told, f"the answer of the sub-agent was cut, and the result of its call is {text!r}, as if it were whole"


def _is_told(run: Run, what: str) -> None:
    """The result of the call of a sub-agent that has no answer has words, which do not just say that all is well."""
    [text] = results(run, outer(run, 2).n)
    told = bool(text.strip().strip("\"'{}[]").strip()) and not claims_success(text)
    assert told, f"the sub-agent {what}, and the result of its call is {text!r}"


def _endless(implementation: Implementation, rounds: int = RUNAWAY) -> Cast:
    return cast_of(implementation, *([Call.of("refund", {"order": str(n)})] for n in range(rounds)))


@requirement("endless-subagent-ends")
def test_endless(implementation: Implementation) -> None:
    """The sub-agent calls its tool again and again, and something ends that."""
    cast = _endless(implementation)

    run = cast.play(QUESTION, most=RUNAWAY, limit=LIMIT)

    cast.reached()
    inner(run)
    assert not run.is_endless(RUNAWAY), f"the sub-agent was asked again and again, in {len(run.requests)} requests"


@requirement("cancelled-run-cancels-its-subagents")
def test_cancelled(scenario: Scenario, implementation: Implementation) -> None:
    """The run is cancelled while the service answers the sub-agent, which then does nothing more."""
    require_cancelling(implementation)
    cast = cast_of(implementation, [REFUND], [REPORT])
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
    run = played(implementation)

    got = "".join(chunk.text for chunk in run.chunks)
    run.delivered(outer(run, 2).n)
    assert REPORT not in got, f"the caller received {got!r}, with the answer of the sub-agent"
