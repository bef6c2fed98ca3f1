"""Server-side loops: what a server asks its model."""

from __future__ import annotations

import pytest

from looptck.checks import requirement
from looptck.expectations import accepted
from looptck.guest import Guest
from looptck.kit import Scene
from looptck.provider.toolbox import Behaviour, Raises, Returns
from looptck.spec.served import DONE, LODZ, PARIS, PING
from looptck.turns import calls

ANSWERED: list[Behaviour] = [Returns("18 °C"), Returns(""), Raises("there is no such city")]


@requirement("server-no-request-is-refused")
@pytest.mark.parametrize("behaviour", ANSWERED, ids=["a-result", "an-empty-result", "a-failure"])
def test_requests_are_accepted(provider: Scene, guest: Guest, behaviour: Behaviour) -> None:
    """Rounds with text beside a call, with none, and with a call that fails: the model's API takes every request."""
    provider.plays(calls(PING), calls(PARIS, text="And the weather."), calls(LODZ), DONE)
    provider.does("weather", behaviour)

    run = guest.ask()

    accepted(run, wanted=True)
    run.request(4)
