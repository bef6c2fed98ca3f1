"""Endings: when the caller has the outcome, the loop is over."""

from __future__ import annotations

from looptck.bench.bench import Scenario
from looptck.bench.checks import Implementation, requirement
from looptck.provider import gates
from looptck.provider.toolbox import Raises, Returns
from looptck.values.turns import Call, calls, says

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
