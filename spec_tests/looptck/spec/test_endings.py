"""Endings: when the caller has the outcome, the loop is over."""

from __future__ import annotations

from looptck.checks import Implementation, requirement
from looptck.kit import Scene
from looptck.provider import gates
from looptck.provider.toolbox import Raises, Returns
from looptck.turns import Call, calls, says

SLOW, FAILING = Call.of("ping"), Call.of("weather", {"city": "Atlantis"})
LEFT = (Call.of("note", {"text": "one"}), Call.of("note", {"text": "two"}))


@requirement("nothing-runs-after-the-end")
def test_slow_tool(provider: Scene, implementation: Implementation) -> None:
    """A tool is still at work when its neighbour fails; what it returns after the end of the run starts nothing.

    A loop may begin all calls together, so the neighbour fails when those behind it are seen to have begun.
    """
    provider.plays(calls(SLOW, FAILING, *LEFT), says("Done."))
    provider.does("ping", Returns("pong", hold=gates.run_ended(behind="weather")))
    begun = gates.tool_begins_if_ever("note", len(LEFT))
    provider.does("weather", Raises("there is no such city", "LookupError", hold=begun))

    run = implementation.run()

    run.tool_began("ping")
    assert not run.after_the_end, f"after the loop had {run.outcome}: {', '.join(run.after_the_end)}"
