"""Traits of limits: when a loop stops, what it counts, and what the caller gets then."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from looptck.bench.run import Run
from looptck.catalogue.traits import trait
from looptck.spec.obeying import may_not_call, obeying
from looptck.spec.traits.answers import TraitAnswer, require_played
from looptck.suite.asking import Loop, error_text
from looptck.values.outcome import Failed, Value
from looptck.values.plain import amount
from looptck.values.turns import Call, Turn, calls, says, turn
from looptck.values.verdicts import NotReached

FAR = 130
"""More requests than any default limit in use allows a loop."""
LIMIT = 3
RUNAWAY = 16
"""Enough to show that the limit was not enforced."""
PAUSES = 40


def _never_done() -> Callable[[Any], Turn]:
    """A model that calls two tools whenever it may, with new arguments, because some loops stop at repeated calls."""
    rounds = itertools.count(1)

    def turn() -> Turn:
        n = next(rounds)
        return calls(
            Call.of("note", {"text": f"first of round {n}"}), Call.of("note", {"text": f"second of round {n}"})
        )

    return obeying(turn)


def _endless(loop: Loop, name: str, most: int, limit: int | None) -> Run:
    def play() -> Run:
        loop.scenario.listens(_never_done(), most=most)
        return loop.run(limit=limit)

    run = loop.once(name, play)
    require_played(run)
    for received in run.requests:
        if received.problems:
            raise NotReached(f"request {received.n} was refused: {received.problems[0].rule}")
    return run


def _by_default(loop: Loop) -> Run:
    return _endless(loop, "endless", FAR, None)


def _limited(loop: Loop) -> Run:
    run = _endless(loop, "limited", RUNAWAY, LIMIT)
    if len(run.requests) >= RUNAWAY:
        raise NotReached(f"the limit of {LIMIT} was not enforced: the model was asked {len(run.requests)} times")
    return run


def _asked(run: Run) -> int:
    """How often the model was asked while it could call tools."""
    return sum(not may_not_call(received.body) for received in run.requests)


def _caller_gets(run: Run) -> TraitAnswer:
    outcome = run.outcome
    if isinstance(outcome, Failed):
        return "error-for-the-caller", error_text(outcome)
    assert isinstance(outcome, Value)
    if _asked(run) < len(run.requests):
        return "asked-for-an-answer", outcome.text or ""
    if outcome.stop not in {None, "end"}:
        return ("limit-told" if outcome.stop == "limit" else "stop-told"), f"{outcome.stop}: {outcome.text or ''}"
    return ("text-as-if-whole" if outcome.text else "nothing-as-if-whole"), outcome.text or ""


@trait("default-limit")
def test_default_limit(loop: Loop) -> None:
    """The model never stops calling tools, and the caller has set no limit."""
    asked = _asked(_by_default(loop))
    loop.answers("not-in-sight" if asked >= FAR else "finite", amount(asked, "model call"))


@trait("default-limit-reached")
def test_default_limit_reached(loop: Loop) -> None:
    """The model never stops calling tools, and the caller has set no limit."""
    run = _by_default(loop)

    if len(run.requests) >= FAR:
        raise NotReached(f"the loop had not ended after {FAR} model calls")
    loop.answers(*_caller_gets(run))


@trait("limit-counts")
def test_limit_counts(loop: Loop) -> None:
    """Each turn has two calls; the limit is three."""
    run = _limited(loop)

    asked, called = _asked(run), len(run.ran)
    known = {(LIMIT + 1, 2 * LIMIT): "tool-rounds", (LIMIT + 1, 2 * LIMIT + 2): "one-more"}
    if asked == LIMIT:
        name = "model-calls"
    elif asked < LIMIT and called in {LIMIT, LIMIT + 1}:
        name = "tool-calls"
    else:
        name = known.get((asked, called), "something-else")
    loop.answers(name, f"{amount(asked, 'model call')}, {amount(called, 'call')} run")


@trait("calls-at-the-limit")
def test_calls_at_the_limit(loop: Loop) -> None:
    """Each turn has two calls; the limit is three."""
    run = _limited(loop)

    ran = sum(str(one.arguments).count(f"of round {_asked(run)}'") for one in run.ran)
    loop.answers(["not-run", "partly-run", "run"][min(ran, 2)])


@trait("limit-reached")
def test_limit_reached(loop: Loop) -> None:
    """The limit is three, and the model never stops."""
    loop.answers(*_caller_gets(_limited(loop)))


@trait("limit-of-zero")
def test_limit_of_zero(loop: Loop) -> None:
    """The limit is zero; the model calls a tool and then answers."""
    run = loop.plays(calls(Call.of("note", {"text": "of zero"})), says("Done."), limit=0)

    if len(run.requests) > 1:
        loop.answers("no-limit", str(run.outcome))
        return
    kind = "error" if run.failed else "value"
    when = "after-one-request" if run.requests else "at-once"
    loop.answers(f"{kind}-{when}", error_text(run.outcome) if isinstance(run.outcome, Failed) else str(run.outcome))


@trait("endless-pauses")
def test_endless_pauses(loop: Loop) -> None:
    """The service pauses every turn."""
    loop.can_be_said(turn("Part 1.", stop="pause"))
    loop.scenario.always(lambda n: turn(f"Part {n}.", stop="pause"), most=PAUSES)
    run = loop.run()

    run.delivered(1)
    asked = len(run.requests)
    name = "goes-on" if asked >= PAUSES else "error-for-the-caller" if run.failed else "text-for-the-caller"
    loop.answers(name, amount(asked, "request"))
