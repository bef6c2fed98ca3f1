"""Cassettes: conversations recorded from real servers, played byte for byte."""

from __future__ import annotations

import json

import pytest

from looptck.cassettes import Cassette, cassettes, scenarios
from looptck.checks import Implementation, on, requirement
from looptck.expectations import answers, answers_follow, calls_echoed, text, tools_ran
from looptck.kit import Scene
from looptck.run import Run
from looptck.verdicts import NotReached

SCENARIOS = [pytest.param(name, marks=on(*wires)) for name, wires in scenarios().items()]


@requirement("recorded-traffic-is-read-right")
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_recorded_conversation(provider: Scene, implementation: Implementation, scenario: str) -> None:
    """The recorded calls run, are echoed and answered, and the recorded answer is returned."""
    cell = implementation.cell
    cassette = cassettes()[f"{cell.wire}/{scenario}-{'stream' if cell.stream else 'plain'}"]
    cassette.set(provider)

    run = implementation.run(cassette.question, tools=cassette.tools)

    _all_requested(run, cassette)
    tools_ran(run, [{call.tool: json.loads(call.arguments)} for turn in cassette.turns for call in turn.calls])
    for n in range(1, len(cassette.turns)):
        calls_echoed(run, n)
        answers(run, n)
        answers_follow(run, n)
    text(run, cassette.turns[-1].text or "")


def _all_requested(run: Run, cassette: Cassette) -> None:
    """Every recorded reply was asked for, in its mode, and no other."""
    recorded, came = len(cassette.exchanges), len(run.requests)
    if run.request(1).request.stream != cassette.stream:
        raise NotReached("request 1 asks for the other mode: plain where a stream was recorded, or the reverse")
    for received in run.requests[:recorded]:
        run.delivered(received.n)

    assert recorded == came, f"{recorded} requests were recorded, and {came} came; the loop {run.outcome}"
