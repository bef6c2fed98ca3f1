"""Server-side loops: the replies of the model, however they are cut into writes."""

from __future__ import annotations

import pytest

from looptck.bench.checks import control, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.server import ServerUnderTest
from looptck.provider.faults import NoFinish
from looptck.provider.script import Step
from looptck.spec.server_loop.replies import LODZ, PARIS
from looptck.values.framing import PRESETS
from looptck.values.plain import plain
from looptck.values.turns import calls, says
from looptck.values.verdicts import NotApplicable, NotReached

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


UNFINISHED = NoFinish(done=False)


@requirement("server-unfinished-model-stream-is-told")
def test_half_an_answer(scenario: Scenario, server: ServerUnderTest) -> None:
    """Behind a round the stream of the model ends in the middle: the client gets an error, or no stop reason."""
    scenario.plays(calls(PARIS), says(RAIN))
    control(server.ask(), "weather")
    scenario.plays(calls(PARIS), Step(says(RAIN), fault=UNFINISHED))

    run = server.ask()

    _in_events(run, 2)
    told = len(run.requests) > 2 or not _is_whole(run)
    assert told, f"the client got the answer {run.got.text!r}, as if the model had said all of it"


@requirement("server-unfinished-model-stream-runs-nothing")
def test_unfinished_call(scenario: Scenario, server: ServerUnderTest) -> None:
    """The arguments of the call are whole, and then the stream of the model ends cleanly."""
    scenario.plays(calls(PARIS), says(RAIN))
    control(server.ask(), "weather")
    scenario.plays(Step(calls(PARIS), fault=UNFINISHED), says(RAIN))

    run = server.ask()

    _in_events(run, 1)
    assert [] == run.tools_ran, f"{plain(run.tools_ran)} ran, of a turn that the model has not finished"


def _is_whole(run: Run) -> bool:
    """Whether the client's reply reads as a whole answer."""
    try:
        return run.got.ok and run.got.turn.stopped == "end"
    except NotReached:
        return False


def _in_events(run: Run, n: int) -> None:
    """The server has asked the model for this reply as a stream, which alone can end in the middle so cleanly."""
    if run.request(n).body.get("stream") is not True:
        raise NotApplicable("the server asks its model for a plain reply")
