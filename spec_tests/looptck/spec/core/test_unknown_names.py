"""Names that are nearly those of tools: a call of a tool that there is not runs no other one."""

from __future__ import annotations

import pytest

from looptck.bench.checks import Implementation, control, requirement
from looptck.bench.scenario import Scenario
from looptck.values.turns import Call, calls, says

PARIS = {"city": "Paris"}


@requirement("similar-name-runs-no-tool")
@pytest.mark.parametrize("name", ["weathers", "weater"])
def test_a_letter_more_or_less(scenario: Scenario, implementation: Implementation, name: str) -> None:
    """The model calls `weather` by a name with a letter more or less; by its own name the tool runs."""
    scenario.plays(calls(Call.of("weather", PARIS)), says("Warm."))
    control(implementation.run(), "weather")
    scenario.plays(calls(Call.of(name, PARIS)), says("There is no such tool."))

    run = implementation.run()

    run.delivered(1)
    assert not run.ran, (
        f"no tool has the name {name}, and a call of it ran {run.ran[0].tool}; if the loop repairs names on purpose, "
        'its driver declares dialect.unknown_names "repaired"'
    )
