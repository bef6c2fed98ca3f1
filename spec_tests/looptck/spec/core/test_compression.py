"""Replies in gzip, for loops whose requests say that they can read it."""

from __future__ import annotations

from looptck.bench.assertions.tool_runs import tools_ran
from looptck.bench.checks import Implementation, requirement
from looptck.bench.scenario import Scenario
from looptck.provider.replies import accepts_gzip
from looptck.provider.script import Step
from looptck.values.outcome import Value
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotApplicable

ANSWER = "Warm, with a light wind from the west, and dry until the evening."
WEATHER = calls(Call.of("weather", {"city": "Paris"}))


@requirement("compressed-replies-are-read")
def test_compressed_replies(scenario: Scenario, implementation: Implementation) -> None:
    """The turn with the call and the answer are compressed; each part of a stream can be read when it arrives."""
    scenario.plays(Step(WEATHER, compressed=True), Step(says(ANSWER), compressed=True))

    run = implementation.run()

    if not accepts_gzip(run.request(1).headers):
        raise NotApplicable("the request does not say that gzip is accepted, so no service compresses its reply")
    tools_ran(run, [{"weather": {"city": "Paris"}}])
    assert isinstance(run.outcome, Value), f"the call ran, and then the loop {run.outcome}"
    assert ANSWER == (run.outcome.text or "").strip()
