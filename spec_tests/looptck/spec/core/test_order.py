"""Order: results keep the order and ids of their calls when the calls end in another order than they began."""

from __future__ import annotations

from itertools import pairwise

from looptck.bench.assertions.results import answers, answers_in_order
from looptck.bench.checks import Implementation, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.talk import Talk
from looptck.provider.gate import Gate
from looptck.provider.gates import ABSENCE
from looptck.provider.toolbox import Returns
from looptck.values.transcript import Event, ToolEnded
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotApplicable, NotReached

FOUR = calls(
    Call.of("weather", {"city": "Paris"}),
    Call.of("add", {"a": 1, "b": 2}),
    Call.of("note", {"text": "in between"}),
    Call.of("ping"),
)
TOOLS = [call.tool for call in FOUR.calls]


def _ended(*tools: str) -> Gate:
    """A gate that opens once one of these tools has ended."""

    def opens(event: Event) -> bool:
        return isinstance(event, ToolEnded) and event.tool in tools

    name = f"{' or '.join(tools)} has ended"
    return Gate(name, opens, ABSENCE, of_silence=True, if_ever=True, taken_in=True)


@requirement("results-keep-call-order")
def test_calls_that_end_backwards(scenario: Scenario, implementation: Implementation) -> None:
    """If the loop runs the calls together, each tool ends after the next one; otherwise it ends soon enough.

    When the first tool has ended, the loop does not run all of them at once, and no gate waits any longer.
    """
    run = _backwards(scenario, implementation)

    answers_in_order(run, 1)


@requirement("results-keep-call-order")
def test_an_unknown_call_behind_another(scenario: Scenario, implementation: Implementation) -> None:
    """The second call of a turn is of no tool, so its result is there before the tool of the first call has run."""
    scenario.plays(calls(Call.of("weather", {"city": "Paris"}), Call.of("teleport", {"city": "Oslo"})), says("Done."))

    run = implementation.run()

    run.delivered(1)
    if run.ended and len(run.requests) == 1:
        raise NotApplicable(f"the loop ends with a call of an unknown tool: it {run.outcome}")
    if len(run.new_answers(1)) < 2:
        raise NotApplicable("the loop answers a turn with an unknown call in its own words")
    answers_in_order(run, 1)


@requirement("results-keep-call-order")
def test_the_next_question(scenario: Scenario, implementation: Implementation) -> None:
    """The calls of a run end backwards; the next question of the conversation has their results in call order too."""
    implementation.needs("conversations")
    talk = Talk(implementation)
    _plays_backwards(scenario)
    talk.run("Do it all.").request(2)
    scenario.plays(says("It is noon."))

    request = talk.run("What time is it?").request(1).request

    got = [name for answer in request.answers for name in TOOLS if f"from {name}" in answer.text]
    if {*got} != {*TOOLS}:
        raise NotReached(f"the next question has results of {', '.join(got) or 'no tool'}")
    calls_of, results_of = ", ".join(TOOLS), ", ".join(got)
    assert TOOLS == got, f"the calls are of {calls_of}, and the next question has the results of {results_of}"


@requirement("results-carry-their-call-ids")
def test_results_of_calls_that_end_backwards(scenario: Scenario, implementation: Implementation) -> None:
    """Each tool ends after the next one, and each result still has the id of its own call."""
    run = _backwards(scenario, implementation)

    answers(run, 1)


def _backwards(scenario: Scenario, implementation: Implementation) -> Run:
    _plays_backwards(scenario)

    return implementation.run()


def _plays_backwards(scenario: Scenario) -> None:
    for tool, following in pairwise(TOOLS):
        scenario.does(tool, Returns(f"from {tool}", hold=_ended(following, *(TOOLS[:1] if tool != TOOLS[0] else []))))
    scenario.does(TOOLS[-1], Returns(f"from {TOOLS[-1]}"))
    scenario.plays(FOUR, says("Done."))
