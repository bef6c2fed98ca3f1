"""Limits: a loop is finite, its limit means what it says, and reaching it is told."""

from __future__ import annotations

import re

import pytest

from looptck.checks import Implementation, control, requirement
from looptck.kit import Scene
from looptck.outcome import Failed, Value
from looptck.provider.script import RUNAWAY_CAP
from looptck.run import Run
from looptck.turns import Call, Turn, calls, says, turn
from looptck.verdicts import NotReached

RUNAWAY = 16
"""Enough to show that a limit of at most 7 did not hold."""


WORDS = re.compile(
    r"\b(limit(s|ed)?|max(imum)?|exceed(s|ed)?|exhausted|reached|many|budget|recursion|depth|cap"
    r"|iterations?|turns?|steps?|rounds?|cycles?)\b"
)
"""What an error says that names a limit."""
STRONG = re.compile(r"\b(limit|max(imum)?|exceed(s|ed)?|exhausted)\b")
"""Those of the words that no error of a programming mistake says by chance."""
MISTAKES = {
    *("AssertionError", "AttributeError", "IndexError", "KeyError", "NameError", "TypeError", "UnboundLocalError"),
    *("NullPointerException", "NullReferenceException", "RecursionError", "ReferenceError"),
}
"""The types by which languages tell of mistakes in a program."""


def _asks(n: int, text: str | None = None) -> Turn:
    """A turn that asks for a tool, with arguments that are new every time: some loops stop at repeated calls."""
    return calls(Call.of("note", {"text": f"round {n}"}), text=text)


def _allowed(implementation: Implementation, limit: int) -> int:
    """The model calls that a limit allows, by what the implementation declares that it counts."""
    counts = implementation.started.dialect.get("limit_counts", "model-calls")
    return limit if counts == "model-calls" else limit + 1


def _names_a_limit(error: Failed) -> bool:
    """Whether a caller who reads the error's type and message learns of a limit."""
    if error.type == "RecursionError":  # Python's own, which is about its stack
        return False
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", f"{error.type} {error.message}")
    words = STRONG if error.type in MISTAKES else WORDS
    return words.search(parted.lower().replace("_", " ")) is not None


@requirement("limit-is-a-ceiling")
@pytest.mark.parametrize("limit", [1, 2, 3, 7])
def test_endless_calls(provider: Scene, implementation: Implementation, limit: int) -> None:
    """A model that never stops asking is asked as often as the limit allows, and no more."""
    provider.always(_asks, most=RUNAWAY)

    run = implementation.run(limit=limit)

    run.delivered(_allowed(implementation, limit))
    assert len(run.requests) <= _allowed(implementation, limit)


@requirement("limit-allows-what-fits")
@pytest.mark.parametrize("limit", [2, 3, 7])
def test_fitting_conversation(provider: Scene, implementation: Implementation, limit: int) -> None:
    """A conversation that needs exactly the model calls that the limit allows returns its answer."""
    rounds = _allowed(implementation, limit) - 1
    provider.plays(*map(_asks, range(rounds)), says("Just in time."))

    run = implementation.run(limit=limit)

    run.delivered(1)
    assert isinstance(run.outcome, Value), f"the loop {run.outcome} after {len(run.requests)} model calls"
    assert "Just in time." == run.outcome.text


@requirement("limit-reached-is-told")
@pytest.mark.parametrize("text", [None, "Another round."], ids=["silent", "with-text"])
def test_limit_is_told(provider: Scene, implementation: Implementation, text: str | None) -> None:
    """The model never stops asking; what the loop ends with at its limit does not look like a whole answer."""
    provider.always(lambda n: _asks(n, text), most=RUNAWAY)

    run = implementation.run(limit=3)

    run.delivered(1)
    if len(run.requests) >= RUNAWAY:
        raise NotReached(f"the limit never took hold: {len(run.requests)} model calls with the limit 3")
    refused = [received.n for received in run.requests if received.problems]
    if refused:
        raise NotReached(f"request {refused[0]} was refused, so that what the loop ends with may come from that")
    if isinstance(run.outcome, Failed):
        _is_of_the_limit(provider, implementation, run, run.outcome)
    else:
        assert isinstance(run.outcome, Value)
        assert run.outcome.stop in {"limit", "other"}, f"the loop {run.outcome}"


def _is_of_the_limit(provider: Scene, implementation: Implementation, run: Run, error: Failed) -> None:
    """An error tells of the limit by its reason or its words; one without words for it has to be due to it."""
    if error.reason == "limit" or _names_a_limit(error):
        return
    assert error.type not in MISTAKES, f"the loop {error}, which says nothing of a limit"
    provider.endless = None
    provider.plays(*map(_asks, range(len(run.requests))), says("Done."))
    longer = implementation.run(limit=RUNAWAY)
    assert isinstance(longer.outcome, Value), f"the loop {error}, and with a higher limit it {longer.outcome}"


@requirement("pauses-are-finite")
def test_endless_pauses(provider: Scene, implementation: Implementation) -> None:
    """The service pauses every turn; the loop ends before the runaway cap."""
    provider.always(lambda n: turn(f"Part {n}.", stop="pause"))

    run = implementation.run()

    run.delivered(2)
    assert len(run.requests) < RUNAWAY_CAP


@requirement("limit-of-one-answers")
def test_limit_of_one(provider: Scene, implementation: Implementation) -> None:
    """With the limit 1 an answer without tools is returned."""
    provider.plays(says("At once."))

    run = implementation.run(limit=1)

    run.replied(1)
    assert isinstance(run.outcome, Value), f"the loop {run.outcome}"
    assert "At once." == run.outcome.text


@requirement("limit-of-zero-runs-no-tool")
def test_limit_of_zero(provider: Scene, implementation: Implementation) -> None:
    """With the limit 0 no tool runs; that tools run with a limit of 2 is the control."""
    provider.plays(_asks(1), says("Done."))
    control(implementation.run(limit=2), "note")
    provider.plays(_asks(1), says("Done."))

    run = implementation.run(limit=0)

    assert [] == run.tools_ran


@requirement("loop-is-finite-by-default")
def test_default_limit(provider: Scene, implementation: Implementation) -> None:
    """Without a limit of the caller's, an endless conversation ends before the provider ends it."""
    provider.always(_asks)

    run = implementation.run()

    run.delivered(2)
    assert len(run.requests) < RUNAWAY_CAP, f"still asking after {len(run.requests)} model calls"
