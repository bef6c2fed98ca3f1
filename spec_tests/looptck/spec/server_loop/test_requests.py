"""Server-side loops: the requests that a server sends to its model."""

from __future__ import annotations

import pytest

from looptck.bench.assertions.turns import accepted
from looptck.bench.checks import requirement
from looptck.bench.scenario import Scenario
from looptck.bench.server import ServerUnderTest
from looptck.provider.toolbox import Behaviour, Raises, Returns
from looptck.spec.server_loop.replies import DONE, LODZ, PARIS, PING
from looptck.values.turns import calls

ANSWERED: list[Behaviour] = [Returns("18 °C"), Returns(""), Raises("there is no such city")]


@requirement("server-no-request-is-refused")
@pytest.mark.parametrize("behaviour", ANSWERED, ids=["a-result", "an-empty-result", "a-failure"])
def test_requests_are_accepted(scenario: Scenario, server: ServerUnderTest, behaviour: Behaviour) -> None:
    """Rounds with text and a call, without text, and with a failing call: the model's API accepts every request."""
    scenario.plays(calls(PING), calls(PARIS, text="And the weather."), calls(LODZ), DONE)
    scenario.does("weather", behaviour)

    run = server.ask()

    accepted(run, wanted=True)
    run.request(4)
