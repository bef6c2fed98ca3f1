"""Server-side loops: the replies of the model, however they are cut into writes."""

from __future__ import annotations

import pytest

from looptck.bench.bench import Scenario
from looptck.bench.checks import requirement
from looptck.bench.server import ServerUnderTest
from looptck.provider.script import Step
from looptck.spec.server_loop.replies import LODZ
from looptck.values.framing import PRESETS
from looptck.values.turns import calls, says

RAIN = 'In Łódź — 東京 too — it is raining, "as ever".'


@requirement("server-model-replies-may-be-cut-anywhere")
@pytest.mark.parametrize("framing", ["torn", "single-bytes"])
def test_torn_replies(scenario: Scenario, server: ServerUnderTest, framing: str) -> None:
    """The model's replies are cut inside characters: the arguments and the answer arrive as they were written."""
    scenario.plays(Step(calls(LODZ), PRESETS[framing]), Step(says(RAIN), PRESETS[framing]))

    run = server.ask()

    run.delivered(1)
    assert [("weather", {"city": "Łódź", "days": [1, {"hour": 12}]})] == run.tools_ran
    assert run.got.ok, f"the request got {run.got}"
    assert RAIN == run.got.text
