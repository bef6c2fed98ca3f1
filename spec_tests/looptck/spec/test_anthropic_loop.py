"""Profile ``anthropic-loop``: what ends the loop, its limit, and how it runs the calls of a turn."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.checks import Implementation, requirement
from looptck.expectations import tools_ran
from looptck.history import Asked
from looptck.kit import Scene
from looptck.outcome import Value
from looptck.provider import gates
from looptck.provider.script import RUNAWAY_CAP
from looptck.provider.toolbox import Returns
from looptck.spec.messages import blocks_of
from looptck.turns import Call, Hosted, Thinking, Turn, calls, says, turn
from looptck.verdicts import NotReached

RUNAWAY = 16
"""Enough to show that neither the default limit nor a limit of at most 7 did hold."""
TWO = calls(Call.of("weather", {"city": "Paris"}), Call.of("ping"))
BOTH: list[dict[str, Any]] = [{"weather": {"city": "Paris"}}, {"ping": {}}]


def _asks(n: int) -> Turn:
    return calls(Call.of("note", {"text": f"round {n}"}))


@requirement("claude-model-is-asked-until-it-answers")
@pytest.mark.parametrize("rounds", [0, 1, 9])
def test_rounds(provider: Scene, implementation: Implementation, rounds: int) -> None:
    """So many turns with calls lead to so many requests and one more, whose answer is the loop's."""
    provider.plays(*map(_asks, range(rounds)), says("That is all."))

    run = implementation.run()

    run.delivered(1)
    assert rounds + 1 == len(run.requests), f"the loop {run.outcome}"
    assert [("note", {"text": f"round {n}"}) for n in range(rounds)] == run.tools_ran
    assert "That is all." == run.value.text


NOTHING_TO_RUN = {
    "nothing": turn(stop="calls"),
    "text": turn("I look.", stop="calls"),
    "thinking": turn(Thinking("I should look."), stop="calls"),
    "search": turn("I search.", Hosted(), stop="calls"),
    "mcp": turn("I search.", Hosted("mcp"), stop="calls"),
}


@requirement("claude-nothing-empty-is-sent")
@pytest.mark.parametrize("first", NOTHING_TO_RUN.values(), ids=NOTHING_TO_RUN)
def test_nothing_empty(provider: Scene, implementation: Implementation, first: Turn) -> None:
    """Whatever the turn holds in place of calls, no request has a user message in which nothing stands."""
    provider.plays(first, says("Done."))

    run = implementation.run()

    run.delivered(1)
    for received in run.requests:
        assert all(blocks_of(received, "user")), f"request {received.n} has a user message without content"
    implementation.diverges("tool_use without a call", f"{len(run.requests)} model calls, then it {run.outcome}")


@requirement("claude-pauses-are-bounded")
def test_endless_pauses(provider: Scene, implementation: Implementation) -> None:
    """The service pauses every turn; the loop has gone on with one, and ends by itself."""
    provider.always(lambda n: turn(f"Part {n}.", Hosted(done=False), stop="pause"))

    run = implementation.run()

    run.delivered(2)
    assert len(run.requests) < RUNAWAY_CAP, f"still asking after {len(run.requests)} model calls"
    implementation.diverges("endless pauses", f"{len(run.requests)} model calls, then it {run.outcome}")


@requirement("claude-default-limit-is-ten")
def test_default_limit(provider: Scene, implementation: Implementation) -> None:
    """An endless conversation ends after ten model calls."""
    provider.always(_asks, most=RUNAWAY)

    run = implementation.run()

    run.delivered(1)
    assert 10 == len(run.requests), f"the loop {run.outcome}"


@requirement("claude-limit-counts-model-calls")
@pytest.mark.parametrize("limit", [0, 1, 3, 7])
def test_limit(provider: Scene, implementation: Implementation, limit: int) -> None:
    """With the limit N there are N model calls, none for N = 0; that there is one for N = 1 is the control."""
    provider.always(_asks, most=RUNAWAY)
    if limit == 0:
        implementation.run(limit=1).delivered(1)

    run = implementation.run(limit=limit)

    assert limit == len(run.requests), f"the loop {run.outcome}"


@requirement("claude-last-turn-runs-its-tools")
@pytest.mark.parametrize("limit", [1, 3])
def test_last_turn(provider: Scene, implementation: Implementation, limit: int) -> None:
    """N model calls are N rounds of tools."""
    provider.always(_asks, most=RUNAWAY)

    run = implementation.run(limit=limit)

    run.delivered(limit)
    assert [("note", {"text": f"round {n + 1}"}) for n in range(limit)] == run.tools_ran


@requirement("claude-answer-in-the-last-turn-is-returned")
@pytest.mark.parametrize("limit", [1, 2, 5])
def test_answer_in_the_last_turn(provider: Scene, implementation: Implementation, limit: int) -> None:
    """N-1 rounds of tools and then an answer need a limit of N, and no more."""
    provider.plays(*map(_asks, range(limit - 1)), says("Just in time."))

    run = implementation.run(limit=limit)

    run.replied(1)
    assert isinstance(run.outcome, Value), f"the loop {run.outcome} after {len(run.requests)} model calls"
    assert "Just in time." == run.outcome.text


@requirement("claude-limit-is-an-error")
@pytest.mark.parametrize("limit", [1, 4])
def test_limit_is_an_error(provider: Scene, implementation: Implementation, limit: int) -> None:
    """A model that never stops asking ends in an error, and not in the text of its last turn."""
    provider.always(lambda n: calls(*_asks(n).calls, text=f"Round {n}."), most=RUNAWAY)

    run = implementation.run(limit=limit)

    run.delivered(limit)
    if len(run.requests) > limit:
        raise NotReached(f"the limit never took hold: {len(run.requests)} model calls with the limit {limit}")
    assert run.failed, f"the loop {run.outcome}"


@requirement("claude-calls-run-at-the-same-time")
def test_two_tools_at_the_same_time(provider: Scene, implementation: Implementation) -> None:
    """Two tools end only once the other has begun."""
    provider.plays(TWO, says("Done."))
    provider.does("weather", Returns("warm", hold=gates.tool_began("ping")))
    provider.does("ping", Returns("pong", hold=gates.tool_began("weather")))

    run = implementation.run()

    tools_ran(run, BOTH)
    assert [] == run.gave_up, "a tool began only when another had ended"


@requirement("claude-calls-run-at-the-same-time")
@pytest.mark.parametrize("count", [3, 6])
def test_one_tool_many_times(provider: Scene, implementation: Implementation, count: int) -> None:
    """Calls of one and the same tool end only once the last of them has begun."""
    wanted = [{"text": str(n)} for n in range(count)]
    provider.plays(calls(*(Call.of("note", one) for one in wanted)), says("Done."))
    provider.does("note", Returns("noted", hold=gates.tool_began("note", count)))

    run = implementation.run()

    tools_ran(run, [{"note": one} for one in wanted])
    assert [] == run.gave_up, "a call began only when another had ended"


@requirement("claude-history-only-grows")
def test_history(provider: Scene, implementation: Implementation) -> None:
    """Each of four requests begins with the history of the one before, and adds a call and its result."""
    provider.plays(_asks(1), _asks(2), _asks(3), says("Done."))

    run = implementation.run()

    run.request(4)
    for earlier, later in zip(run.requests, run.requests[1:], strict=False):
        before = earlier.request.items
        assert before == later.request.items[: len(before)], f"request {later.n}"
        assert 1 == sum(isinstance(item, Asked) for item in later.request.items[len(before) :])


@requirement("claude-tools-are-offered-every-time")
def test_tools_are_offered(provider: Scene, implementation: Implementation) -> None:
    """Requests with results offer what the first request offers."""
    provider.plays(_asks(1), _asks(2), says("Done."))

    run = implementation.run()

    run.request(3)
    for received in run.requests:
        assert set(run.offered) == {tool.name for tool in received.request.tools}, f"request {received.n}"
