"""Endings: the model can answer, and when the caller has the outcome, the loop is over."""

from __future__ import annotations

from looptck.bench.answering import WORD, ruled_out
from looptck.bench.checks import Implementation, requirement
from looptck.bench.scenario import Scenario
from looptck.provider import gates
from looptck.provider.script import RUNAWAY_CAP, Step
from looptck.provider.toolbox import Raises, Returns
from looptck.spec.long_results import loss
from looptck.values.framing import DEFAULT
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotApplicable

SLOW, FAILING = Call.of("ping"), Call.of("weather", {"city": "Atlantis"})
LEFT = (Call.of("note", {"text": "one"}), Call.of("note", {"text": "two"}))


@requirement("nothing-runs-after-the-end")
def test_slow_tool(scenario: Scenario, implementation: Implementation) -> None:
    """A tool still runs when its neighbour fails; its result starts nothing after the end of the run.

    A loop may begin all calls together, so the neighbour fails only when the calls after it have begun. The first of
    those runs until the end as well, so that its successor cannot begin at the moment of the end.
    """
    scenario.plays(calls(SLOW, FAILING, *LEFT), says("Done."))
    scenario.does("ping", Returns("pong", hold=gates.run_ended("weather", "note")))
    begun = gates.tool_begins_if_ever("note", len(LEFT))
    scenario.does("note", Returns("noted", hold=gates.run_ended("weather")), Returns("noted"))
    scenario.does("weather", Raises("there is no such city", "LookupError", hold=begun))

    run = implementation.run()

    run.tool_began("ping")
    assert not run.after_the_end, f"after the loop had {run.outcome}: {', '.join(run.after_the_end)}"


@requirement("nothing-runs-after-the-end")
def test_calls_beside_the_answer(scenario: Scenario, implementation: Implementation) -> None:
    """The call of an answer tool has calls beside it; they run before the end, or not at all.

    The first of them runs until the end, so that its successor cannot begin at the moment of the end.
    """
    answer = implementation.bench.started.answer
    if answer is None:
        raise NotApplicable("the loop takes its answer as a text, and not by a call of a tool of its own")
    scenario.plays(calls(answer.call("Done."), *LEFT), says("Done."))
    scenario.does("note", Returns("noted", hold=gates.run_ended()), Returns("noted"))

    run = implementation.run()

    run.delivered(1)
    assert run.ended, f"no outcome came: the loop {run.outcome}"
    assert not run.after_the_end, f"after the loop had {run.outcome}: {', '.join(run.after_the_end)}"


@requirement("empty-answer-ends-the-loop")
def test_nothing_but_empty_answers(scenario: Scenario, implementation: Implementation) -> None:
    """A model that has nothing to say, however often it is asked, is not asked for ever."""
    scenario.plays(calls(Call.of("ping")))
    scenario.listens(lambda _: says(""))

    run = implementation.run()

    run.delivered(2)
    assert len(run.requests) < RUNAWAY_CAP, f"after {RUNAWAY_CAP - 2} answers with nothing in them the loop asks again"
    assert run.ended, f"no outcome came: the loop {run.outcome}"


@requirement("answer-is-not-ruled-out")
def test_the_model_may_answer(scenario: Scenario, implementation: Implementation) -> None:
    """After a round of tools the request forces no call, unless that is how the loop takes an answer."""
    scenario.plays(calls(LEFT[0]), says("Done."))

    run = implementation.run()

    choice = ruled_out(run.request(2).body, implementation.bench.started.answer)
    assert choice is None, f"request 2 has the {choice}, so no model can ever answer it; {WORD}"


@requirement("final-text-is-returned")
def test_answer_of_many_pages(scenario: Scenario, implementation: Implementation) -> None:
    """The answer has some 55,000 characters; the caller gets each of them."""
    text = " ".join(f"Line {number} of a long report." for number in range(1, 2001))
    scenario.plays(Step(says(text), DEFAULT.but(fragment=2000)))

    run = implementation.run()

    run.delivered(1)
    got = (run.value.text or "").strip()
    assert text == got, loss(text, got)
