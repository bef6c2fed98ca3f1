"""Profile ``anthropic-loop``: what ends the loop, its limit, and how the calls of a turn run."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.bench.assertions.caller import still_asking
from looptck.bench.assertions.tool_runs import tools_ran
from looptck.bench.checks import Implementation, requirement
from looptck.bench.scenario import Scenario
from looptck.provider import gates
from looptck.provider.toolbox import Returns
from looptck.spec.messages import blocks_of
from looptck.spec.rounds import asks
from looptck.values.turns import Call, Hosted, HostedKind, Thinking, Turn, calls, says, turn
from looptck.values.verdicts import NotReached

RUNAWAY = 16
"""Enough to show that neither the default limit nor a limit of up to 7 stopped the loop."""
TWO = calls(Call.of("weather", {"city": "Paris"}), Call.of("ping"))
BOTH: list[dict[str, Any]] = [{"weather": {"city": "Paris"}}, {"ping": {}}]


NOTHING_TO_RUN = {
    "nothing": turn(stop="calls"),
    "text": turn("I look.", stop="calls"),
    "thinking": turn(Thinking("I should look."), stop="calls"),
    "search": turn("I search.", Hosted(), stop="calls"),
    "mcp": turn("I search.", Hosted("mcp"), stop="calls"),
}


@requirement("claude-nothing-empty-is-sent")
@pytest.mark.parametrize("first", NOTHING_TO_RUN.values(), ids=NOTHING_TO_RUN)
def test_nothing_empty(scenario: Scenario, implementation: Implementation, first: Turn) -> None:
    """Whatever the turn contains instead of calls, no request has a user message without content."""
    scenario.plays(first, says("Done."))

    run = implementation.run()

    run.delivered(1)
    for received in run.requests:
        assert all(blocks_of(received, "user")), f"request {received.n} has a user message without content"
    implementation.diverges("tool_use without a call", f"{len(run.requests)} model calls, then it {run.outcome}")


@requirement("claude-pauses-are-bounded")
@pytest.mark.parametrize("kind", ["search", "mcp"])
def test_endless_pauses(scenario: Scenario, implementation: Implementation, kind: HostedKind) -> None:
    """The service pauses every turn for a tool of its own; the loop has resumed one, and ends on its own."""

    def paused(n: int) -> Turn:
        return turn(f"Part {n}.", Hosted(kind, done=False), stop="pause")

    scenario.plays(paused(1))
    scenario.always(paused)

    run = implementation.run()

    run.delivered(2)
    assert not run.is_endless(), still_asking(run)
    implementation.diverges("endless pauses", f"{len(run.requests)} model calls, then it {run.outcome}")


@requirement("claude-limit-is-an-error")
@pytest.mark.parametrize("limit", [1, 4])
def test_limit_is_an_error(scenario: Scenario, implementation: Implementation, limit: int) -> None:
    """A model that never stops calling tools ends in an error, not in the text of its last turn."""
    scenario.always(lambda n: calls(*asks(n).calls, text=f"Round {n}."), most=RUNAWAY)

    run = implementation.run(limit=limit)

    run.delivered(limit)
    if len(run.requests) > limit:
        raise NotReached(f"the limit was never enforced: {len(run.requests)} model calls with the limit {limit}")
    assert run.failed, f"the loop {run.outcome}"


@requirement("claude-calls-run-at-the-same-time")
def test_two_tools_at_the_same_time(scenario: Scenario, implementation: Implementation) -> None:
    """Each of two tools returns only once the other has begun."""
    scenario.plays(TWO, says("Done."))
    scenario.does("weather", Returns("warm", hold=gates.tool_began("ping")))
    scenario.does("ping", Returns("pong", hold=gates.tool_began("weather")))

    run = implementation.run()

    tools_ran(run, BOTH)
    assert [] == run.gave_up, "a tool began only after another had ended"


@requirement("claude-calls-run-at-the-same-time")
@pytest.mark.parametrize("count", [3, 6])
def test_one_tool_many_times(scenario: Scenario, implementation: Implementation, count: int) -> None:
    """Calls of one tool return only once the last of them has begun."""
    wanted = [{"text": str(n)} for n in range(count)]
    scenario.plays(calls(*(Call.of("note", one) for one in wanted)), says("Done."))
    scenario.does("note", Returns("noted", hold=gates.tool_began("note", count)))

    run = implementation.run()

    tools_ran(run, [{"note": one} for one in wanted])
    assert [] == run.gave_up, "a call began only after another had ended"
