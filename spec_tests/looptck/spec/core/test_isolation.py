"""Isolation: two runs of one loop share nothing."""

from __future__ import annotations

import hashlib

from looptck.bench.checks import Implementation, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.catalogue.agents import agent
from looptck.provider.gate import Gate
from looptck.provider.script import Step
from looptck.values.plain import times
from looptck.values.transcript import Ended
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotReached

WAIT = 3.0
"""Seconds that one run waits for another: a right loop may make one model request at a time."""


def _texts(run: Run) -> str:
    return "\n".join(received.raw.decode(errors="replace") for received in run.requests)


def _told(run: Run) -> str:
    """All that the caller of a run got: pieces, and the answer or the error."""
    return "".join(chunk.text for chunk in run.chunks) + str(run.outcome)


def _marker(case: str, which: str) -> str:
    """A word that no loop's prompt contains, the same in every run of a case."""
    return f"{which}-zq{hashlib.sha256(case.encode()).hexdigest()[:8]}x"


@requirement("runs-do-not-leak")
def test_one_after_the_other(scenario: Scenario, implementation: Implementation) -> None:
    """The second run's requests contain nothing of the first run, and begin with the same number of messages."""
    first, second = (_marker(implementation.check.case, which) for which in ("first", "second"))
    scenario.plays(calls(Call.of("note", {"text": f"secret of {first}"})), says(f"Answer to {first}."))
    earlier = implementation.run(f"Question of {first}", apart=True)
    earlier.request(2)
    scenario.plays(calls(Call.of("note", {"text": f"secret of {second}"})), says(f"Answer to {second}."))

    run = implementation.run(f"Question of {second}", apart=True)

    run.request(2)
    assert second in _texts(run)
    assert first not in _texts(run)
    assert len(earlier.request(1).request.items) == len(run.request(1).request.items)


@requirement("runs-do-not-leak")
def test_another_prompt(scenario: Scenario, implementation: Implementation) -> None:
    """Two runs have different system prompts, and the same tools; each sends its own, and not the other's."""
    tools = agent("assistant").tools
    scenario.plays(says("First."))
    earlier = implementation.run(agent="clerk", tools=tools)
    earlier.request(1)
    scenario.plays(says("Second."))

    run = implementation.run(agent="assistant", tools=tools)

    run.request(1)
    for one, other in ((earlier, run), (run, earlier)):
        mine, others = ([text for role, text in each.prompt if role == "system"] for each in (one, other))
        assert [] == [text for text in others if text in _texts(one)], "a run has the system prompt of another"
        if any(text not in _texts(one) for text in mine):
            raise NotReached("a run lacks its own system prompt")


@requirement("runs-do-not-leak")
def test_limit_of_an_earlier_run(scenario: Scenario, implementation: Implementation) -> None:
    """A run has a limit of one; the next run has none, and goes on beyond it."""
    implementation.needs("limit")
    scenario.plays(says("First."))
    implementation.run(limit=1).request(1)
    scenario.plays(calls(Call.of("ping")), says("Second."))

    run = implementation.run()

    run.delivered(1)
    assert len(run.requests) > 1, f"with no limit of its own the loop {run.outcome}"


@requirement("tools-do-not-leak")
def test_tools_of_an_earlier_run(scenario: Scenario, implementation: Implementation) -> None:
    """A run with one tool offers none of the other three tools of an earlier run; the loop may add its own."""
    tools = agent("assistant").tools
    scenario.plays(says("First."))
    implementation.run(tools=tools).request(1)
    scenario.plays(says("Second."))

    run = implementation.run(tools=tools[:1])

    offered = [tool.name for tool in run.request(1).request.tools]
    if tools[0].name not in offered:
        raise NotReached(f"the second run does not offer its own tool {tools[0].name}")
    left = [tool.name for tool in tools[1:] if tool.name in offered]
    assert [] == left, f"a run with the tool {tools[0].name} alone offers {' and '.join(left)} of the run before too"


@requirement("concurrent-runs-do-not-leak")
def test_at_the_same_time(scenario: Scenario, implementation: Implementation) -> None:
    """Two runs are held until each has asked the model; neither contains anything of the other.

    The answer of the second run waits for the end of the first one, so that both callers are there to hear it. A loop
    that makes one request at a time is not held for long: its runs go on, and only what leaks is judged.
    """
    marks = [_marker(implementation.check.case, which) for which in ("first", "second")]
    first_asked, second_asked = Gate("the first run has asked"), Gate("the second run has asked", patience=WAIT)
    turn = calls(Call.of("note", {"text": marks[0]}))
    scenario.plays(Step(turn, before=second_asked), says(f"Answer to {marks[0]}."), signal=first_asked)
    scenario.returns("note", f"result {marks[0]}")
    first_ended = Gate("the first run has ended", lambda event: isinstance(event, Ended), patience=WAIT)
    scenario.watching = (first_ended,)
    first = implementation.begin(f"question {marks[0]}", apart=True)
    turn = calls(Call.of("note", {"text": marks[1]}))
    scenario.plays(
        Step(turn, before=first_asked), Step(says(f"Answer to {marks[1]}."), before=first_ended), signal=second_asked
    )
    scenario.watching = ()
    scenario.returns("note", f"result {marks[1]}")
    first_asked.wait_here(implementation.bench.patience.gate)
    second = implementation.begin(f"question {marks[1]}", apart=True)

    runs = implementation.end(first), implementation.end(second)

    for run, other in zip(runs, marks[::-1], strict=True):
        run.request(2)
        leaks = [received.n for received in run.requests if other.encode() in received.raw]
        assert not leaks, f"request {leaks[0]} of a run carries {other!r}, a word of the run at the same time"
        assert 1 == len(run.ran), f"the call of one of two runs at the same time ran {times(len(run.ran))}"
        assert other not in _told(run), f"the caller of {run.prompt[-1][1]!r} got words of the other run"
