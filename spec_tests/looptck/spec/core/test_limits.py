"""Limits: a loop is finite, its limit is exact, and the caller can see that the limit was reached."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from looptck.bench.assertions.caller import still_asking
from looptck.bench.checks import Implementation, Liveness, control, requirement
from looptck.bench.limit_words import MISTAKES, names_a_limit
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.talk import Talk
from looptck.provider.script import RUNAWAY_CAP
from looptck.spec.obeying import may_not_call, obeying
from looptck.spec.rounds import asks
from looptck.values.outcome import Failed, Value
from looptck.values.plain import times
from looptck.values.turns import Call, Turn, calls, says, turn
from looptck.values.verdicts import NotApplicable, NotReached

ENDLESS_CAP = 130
"""The most model requests of an implementation that in another cell went on after `RUNAWAY_CAP` of them, or had made
this many when its time was over.

It has no limit; to see the same in each cell would take some implementations half an hour."""
RUNAWAY = 16
"""Enough to show that a limit of up to 7 was not enforced."""


def _never_done(text: str | None = None) -> Callable[[Any], Turn]:
    """A model that calls a tool whenever a request lets it; no service has it call one that is not offered."""
    rounds = itertools.count(1)
    return obeying(lambda: asks(next(rounds), text))


def _allowed(implementation: Implementation, limit: int) -> int:
    """The number of model calls that a limit allows, according to the unit that the implementation declares."""
    counts = implementation.started.dialect.get("limit_counts", "model-calls")
    return limit if counts == "model-calls" else limit + 1


def _asked_times(implementation: Implementation, run: Run, limit: int) -> str:
    """How often the model was asked under a limit, and what a driver may have left undeclared if it was once more."""
    made, allowed = len(run.requests), _allowed(implementation, limit)
    rounds = '; if the limit counts rounds with tools, its driver declares dialect.limit_counts "tool-rounds"'
    unit = rounds if made == limit + 1 > allowed else ""
    return f"the model was asked {times(made)}{unit}"


def _under(implementation: Implementation, limit: int) -> Run:
    """A run under a limit. One that had asked too often and then did not end is told by its requests."""
    try:
        return implementation.run(limit=limit)
    except Liveness:
        run = implementation.runs[-1]
        if len(run.requests) <= _allowed(implementation, limit):
            raise
        return run


def _after_the_answer(run: Run, answered: int) -> str:
    """Words for a request behind that which the model has answered without a call; empty if there is none."""
    turn = run.turns.get(answered)
    asked_on = turn is not None and not turn.calls and len(run.requests) > answered
    return f"the model answered request {answered}, and was asked again; " if asked_on else ""


@requirement("limit-is-a-ceiling")
@pytest.mark.parametrize("limit", [1, 2, 3, 7])
def test_endless_calls(scenario: Scenario, implementation: Implementation, limit: int) -> None:
    """A model that never stops calling tools is asked exactly as often as the limit allows."""
    scenario.listens(_never_done(), most=RUNAWAY)

    run = _under(implementation, limit)

    run.delivered(_allowed(implementation, limit))
    counted = f"under the limit of {limit} {_asked_times(implementation, run, limit)}"
    assert len(run.requests) <= _allowed(implementation, limit), counted


@requirement("limit-is-a-ceiling")
@pytest.mark.parametrize("failing", ["raising", "unknown"])
def test_endless_failures(scenario: Scenario, implementation: Implementation, failing: str) -> None:
    """A model whose every call fails is asked no more often than the limit allows; a loop may end sooner."""
    name = {"raising": "note", "unknown": "no_such_tool"}[failing]
    rounds = itertools.count(1)
    scenario.listens(obeying(lambda: calls(Call.of(name, {"text": f"round {next(rounds)}"}))), most=RUNAWAY)
    scenario.raises("note", "the pencil broke")

    run = _under(implementation, 3)

    run.delivered(1)
    counted = f"under the limit of 3, while each call fails, {_asked_times(implementation, run, 3)}"
    assert len(run.requests) <= _allowed(implementation, 3), counted


def _too_early(run: Run, limit: int, fitting: int) -> str:
    return (
        f"{fitting} model calls fit the limit of {limit}, and the loop {run.outcome} after {len(run.requests)}; if its "
        "limit counts steps of its own, the driver has to pass on as many as the model calls of the case take"
    )


@requirement("limit-allows-what-fits")
@pytest.mark.parametrize("limit", [2, 3, 7])
def test_fitting_conversation(scenario: Scenario, implementation: Implementation, limit: int) -> None:
    """A conversation that needs exactly as many model calls as the limit allows returns its answer."""
    rounds = _allowed(implementation, limit) - 1
    scenario.plays(*map(asks, range(rounds)), says("Just in time."))

    run = implementation.run(limit=limit)

    run.delivered(1)
    again = _after_the_answer(run, rounds + 1)
    assert isinstance(run.outcome, Value), f"{again}the loop {run.outcome} after {len(run.requests)} model calls"
    assert len(run.requests) > rounds, _too_early(run, limit, rounds + 1)
    assert "Just in time." == run.outcome.text


@requirement("limit-allows-what-fits")
def test_fitting_rounds_of_two(scenario: Scenario, implementation: Implementation) -> None:
    """Each round has two calls, and counts as one."""
    rounds = _allowed(implementation, 3) - 1
    both = [calls(*(Call.of("note", {"text": f"{which} of round {n}"}) for which in ("a", "b"))) for n in range(rounds)]
    scenario.plays(*both, says("Just in time."))

    run = implementation.run(limit=3)

    run.request(2)
    unit = "; if the limit counts calls of tools, do not declare `limit`"
    again = _after_the_answer(run, rounds + 1)
    assert isinstance(run.outcome, Value), (
        f"each round has two calls, the limit is 3, and {again}the loop {run.outcome} after {len(run.requests)} model "
        f"calls{'' if again else unit}"
    )
    assert len(run.requests) > rounds, _too_early(run, 3, rounds + 1)
    assert "Just in time." == run.outcome.text


@requirement("limit-allows-what-fits")
def test_fitting_runs_of_one_agent(scenario: Scenario, implementation: Implementation) -> None:
    """One agent object has two runs, and each needs exactly as many model calls as the limit allows a run."""
    implementation.needs("shared")
    talk = Talk(implementation, named=False)
    runs: list[Run] = []
    for first in (0, RUNAWAY):
        rounds = _allowed(implementation, 3) - 1
        scenario.plays(*map(asks, range(first, first + rounds)), says("Just in time."))
        runs.append(talk.run("Count.", shared=talk.id, limit=3))
        if not isinstance(runs[0].outcome, Value):
            raise NotReached(f"the first run of the agent was not answered: the loop {runs[0].outcome}")

    outcome = runs[1].outcome
    assert isinstance(outcome, Value), (
        f"the first run of the agent made {len(runs[0].requests)} model calls and was answered; the second run "
        f"{outcome} after {len(runs[1].requests)}, as if the limit of 3 were that of both together"
    )
    assert "Just in time." == outcome.text


@requirement("limit-reached-is-told")
@pytest.mark.parametrize("text", [None, "Another round."], ids=["silent", "with-text"])
def test_limit_is_told(scenario: Scenario, implementation: Implementation, text: str | None) -> None:
    """The model never stops calling tools; the result at the limit does not look like a complete answer."""
    scenario.listens(_never_done(text), most=RUNAWAY)

    run = implementation.run(limit=3)

    run.delivered(1)
    if len(run.requests) >= RUNAWAY:
        raise NotReached(f"the limit was never enforced: {len(run.requests)} model calls with the limit 3")
    if may_not_call(run.requests[-1].body):
        raise NotApplicable("at its limit the loop asks for an answer without tools, and the model gives one")
    refused = [received.n for received in run.requests if received.problems]
    if refused:
        raise NotReached(f"request {refused[0]} was refused, which may be why the loop ended as it did")
    if isinstance(run.outcome, Failed):
        _is_of_the_limit(scenario, implementation, run, run.outcome)
    else:
        assert isinstance(run.outcome, Value)
        if len(run.requests) < _allowed(implementation, 3):
            raise NotReached(f"the loop {run.outcome} after {len(run.requests)} model calls of those that 3 allows")
        assert run.outcome.stop in {"limit", "other"}, f"the loop {run.outcome}, and does not tell of its limit"


def _is_of_the_limit(scenario: Scenario, implementation: Implementation, run: Run, error: Failed) -> None:
    """Assert that an error comes from the limit: by its reason or words, or because a higher limit avoids it."""
    if error.reason == "limit" or names_a_limit(error):
        return
    assert error.type not in MISTAKES, f"the loop {error}, which does not mention a limit"
    scenario.endless = None
    scenario.plays(*map(asks, range(len(run.requests))), says("Done."))
    longer = implementation.run(limit=RUNAWAY)
    assert isinstance(longer.outcome, Value), f"the loop {error}, and with a higher limit it {longer.outcome}"


@requirement("pauses-are-finite")
def test_endless_pauses(scenario: Scenario, implementation: Implementation) -> None:
    """The service pauses every turn; the loop ends before the runaway cap."""
    scenario.always(lambda n: turn(f"Part {n}.", stop="pause"))

    run = implementation.run()

    run.delivered(2)
    assert not run.is_endless(), still_asking(run)


@requirement("limit-of-one-answers")
def test_limit_of_one(scenario: Scenario, implementation: Implementation) -> None:
    """With the limit 1 an answer without tools is returned."""
    scenario.plays(says("At once."))

    run = implementation.run(limit=1)

    run.delivered(1)
    assert isinstance(run.outcome, Value), f"the loop {run.outcome}"
    assert "At once." == run.outcome.text


@requirement("limit-of-zero-runs-no-tool")
def test_limit_of_zero(scenario: Scenario, implementation: Implementation) -> None:
    """With the limit 0 no tool runs; the control is that tools run with the limit 2."""
    scenario.plays(asks(1), says("Done."))
    control(implementation.run(limit=2), "note")
    scenario.plays(asks(1), says("Done."))

    run = implementation.run(limit=0)

    assert [] == run.tools_ran, "tools ran with the limit 0; if that means no limit, declare dialect.limit_of_zero"


@requirement("loop-is-finite-by-default")
def test_default_limit(scenario: Scenario, implementation: Implementation) -> None:
    """If the caller sets no limit, the loop ends an endless conversation before the provider does."""
    most = ENDLESS_CAP if implementation.bench.is_endless else RUNAWAY_CAP
    scenario.listens(_never_done(), most=most)

    try:
        run = implementation.run()
    except Liveness:
        implementation.bench.is_endless |= len(implementation.runs[-1].requests) >= ENDLESS_CAP
        raise

    run.delivered(2)
    implementation.bench.is_endless |= run.is_endless(most)
    assert run.ended, f"the loop {run.outcome}"
    assert not run.is_endless(most), still_asking(run)
