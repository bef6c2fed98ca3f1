"""Pruning: a loop that sends only its latest rounds sends each of them whole.

A round is a turn with calls and its results. The profile anthropic-loop has the rules of its document on Messages; here
is what the services of OpenAI need, and what the number of rounds promises.
"""

from __future__ import annotations

from collections import Counter

import pytest

from looptck.bench.checks import Implementation, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.spec.reminding import has_words_of
from looptck.values.history import Asked, Opaque, Said
from looptck.values.turns import Call, Thinking, calls, says, turn
from looptck.values.verdicts import NotApplicable

ROUNDS = [
    calls(Call.of("note", {"text": "one"})),
    turn(Thinking("Two of them."), "I look.", Call.of("note", {"text": "two"}), Call.of("ping")),
    turn(Thinking("One more."), Call.of("weather", {"city": "Paris"})),
    calls(Call.of("note", {"text": "four"}), Call.of("note", {"text": "five"}), Call.of("ping"), text="Then these."),
    calls(Call.of("ping")),
]
KEPT = pytest.mark.parametrize("keep", [1, 2, 3])


def _pruned(scenario: Scenario, implementation: Implementation, keep: int) -> Run:
    """A run of these rounds that sends ``keep`` of them again."""
    scenario.plays(*ROUNDS, says("Done."))
    run = implementation.run(keep_rounds=keep)
    if any(received.request.relies for received in run.requests):
        raise NotApplicable("the service keeps the history, and the loop sends it what is new")
    return run


@requirement("pruned-history-has-no-orphan")
@KEPT
def test_no_orphans(scenario: Scenario, implementation: Implementation, keep: int) -> None:
    """In every request the ids of calls and results are the same, and no reasoning is left without its turn."""
    run = _pruned(scenario, implementation, keep)

    for received in run.requests:
        asked = Counter(one.id for one in received.request.asked)
        answered = Counter(one.id for one in received.request.answers)
        lone, unanswered = sorted(answered - asked), sorted(asked - answered)
        assert not lone, f"request {received.n} has the result of {lone[0]}, but not its call"
        assert not unanswered, f"request {received.n} has the call {unanswered[0]}, but not its result"
        left = _left(run, received.n)
        assert left is None, f"request {received.n} has reasoning without the turn that it belongs to: {left}"
    run.request(len(ROUNDS) + 1)


def _left(run: Run, n: int) -> Opaque | None:
    """Reasoning in request ``n`` of a turn whose calls it does not have; None if there is none."""
    items = run.normalized(n).items
    there = {item.id for item in items if isinstance(item, Asked)}
    for one in range(1, min(n, len(ROUNDS) + 1)):
        if there.isdisjoint(call.id for call in run.delivered(one).calls):
            left = [item for item in run.echo(one) if isinstance(item, Opaque) and item in items]
            if left:
                return left[0]
    return None


@requirement("pruned-history-keeps-the-prompt")
@KEPT
def test_prompt(scenario: Scenario, implementation: Implementation, keep: int) -> None:
    """Every request has the system prompt and the question, however much was pruned; a note may stand beside them."""
    run = _pruned(scenario, implementation, keep)

    first = run.request(1).request.items
    prompt = [item for item in run.without_own_words(first) or first if isinstance(item, Said)]
    for received in run.requests:
        said = [item for item in received.request.items if isinstance(item, Said)]
        lost = [item for item in prompt if not any(has_words_of(item, one) for one in said)]
        assert not lost, f"request {received.n} has lost a part of the prompt: {lost[0]}"
    run.request(len(ROUNDS) + 1)


@requirement("pruned-history-keeps-the-last-round")
@KEPT
def test_last_round(scenario: Scenario, implementation: Implementation, keep: int) -> None:
    """Every request has the calls of the turn before it, and their results."""
    run = _pruned(scenario, implementation, keep)

    for n in range(1, len(ROUNDS) + 1):
        there = {one.id for one in run.answers(n)}
        lost = [f"{call.tool}({call.arguments})" for call in run.delivered(n).calls if call.id not in there]
        assert not lost, f"request {n + 1} has no result of {lost[0]}, the round that has just ended"
