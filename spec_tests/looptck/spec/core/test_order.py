"""Order: results keep the order and ids of their calls when the calls end in another order than they began."""

from __future__ import annotations

from itertools import pairwise

from looptck.bench.assertions.results import answers, answers_in_order
from looptck.bench.bench import Scenario
from looptck.bench.checks import Implementation, requirement
from looptck.bench.run import Run
from looptck.provider.gate import Gate
from looptck.provider.gates import ABSENCE
from looptck.provider.toolbox import Returns
from looptck.values.transcript import Event, ToolEnded
from looptck.values.turns import Call, calls, says

FOUR = calls(
    Call.of("weather", {"city": "Paris"}),
    Call.of("add", {"a": 1, "b": 2}),
    Call.of("note", {"text": "in between"}),
    Call.of("ping"),
)


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


@requirement("results-carry-their-call-ids")
def test_results_of_calls_that_end_backwards(scenario: Scenario, implementation: Implementation) -> None:
    """Each tool ends after the next one, and each result still has the id of its own call."""
    run = _backwards(scenario, implementation)

    answers(run, 1)


def _backwards(scenario: Scenario, implementation: Implementation) -> Run:
    names = [call.tool for call in FOUR.calls]
    for tool, following in pairwise(names):
        scenario.does(tool, Returns(f"from {tool}", hold=_ended(following, *(names[:1] if tool != names[0] else []))))
    scenario.plays(FOUR, says("Done."))

    return implementation.run()
