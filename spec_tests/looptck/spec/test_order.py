"""Order: where results stand, and under which call, when the calls of a turn end in another order than they began."""

from __future__ import annotations

from itertools import pairwise

from looptck.checks import Implementation, requirement
from looptck.expectations import answers, answers_in_order
from looptck.kit import Scene
from looptck.provider.gates import ABSENCE, Gate
from looptck.provider.toolbox import Returns
from looptck.run import Run
from looptck.transcript import Event, ToolEnded
from looptck.turns import Call, calls, says

FOUR = calls(
    Call.of("weather", {"city": "Paris"}),
    Call.of("add", {"a": 1, "b": 2}),
    Call.of("note", {"text": "in between"}),
    Call.of("ping"),
)


def _ended(*tools: str) -> Gate:
    """Opens when one of these tools has ended."""

    def opens(event: Event) -> bool:
        return isinstance(event, ToolEnded) and event.tool in tools

    return Gate(f"{' or '.join(tools)} has ended", opens, ABSENCE, of_silence=True)


@requirement("results-keep-call-order")
def test_calls_that_end_backwards(provider: Scene, implementation: Implementation) -> None:
    """Each tool ends behind the next one, where the loop runs them together; where it does not, soon enough.

    That the first has ended shows that the loop does not run all of them at once, and nobody waits any longer.
    """
    run = _backwards(provider, implementation)

    answers_in_order(run, 1)


@requirement("results-carry-their-call-ids")
def test_results_of_calls_that_end_backwards(provider: Scene, implementation: Implementation) -> None:
    """Each tool ends behind the next one, and each result stands under its own call all the same."""
    run = _backwards(provider, implementation)

    answers(run, 1)


def _backwards(provider: Scene, implementation: Implementation) -> Run:
    names = [call.tool for call in FOUR.calls]
    for tool, following in pairwise(names):
        provider.does(tool, Returns(f"from {tool}", hold=_ended(following, *(names[:1] if tool != names[0] else []))))
    provider.plays(FOUR, says("Done."))

    return implementation.run()
