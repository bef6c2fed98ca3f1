"""Profile ``agent-loop-010``: an output that is not null ends the run, once the calls of its turn have ended."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.bench.checks import Implementation, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.solutions import behind, call, solution
from looptck.provider.gate import Gate
from looptck.provider.gates import ABSENCE, tool_began
from looptck.provider.script import Hold, Step
from looptck.provider.toolbox import Returns
from looptck.spec import strategies
from looptck.spec.agent_loop_010.open_points import classify
from looptck.spec.agent_loop_010.probes import tools
from looptck.values.framing import DEFAULT
from looptck.values.history import same_value
from looptck.values.plain import plain
from looptck.values.transcript import Ended
from looptck.values.verdicts import NotReached

TOO_LATE = solution(output="Too late.")
"""For loops that ask the model again after the run should be over."""
CHAIN = (
    call("first", {"value": 1}, to="†state.first"),
    call("second", {"value": "†state.first"}, to="†state.second"),
    call("third", {"value": "†state.second"}, to="†state.third"),
)
"""Each call needs the result of the call before it, so the blocked calls have to be checked once for each."""
CALL = CHAIN[0]
STEPS = tools("first", "second", "third")


def _asked_once(run: Run, output: Any) -> None:
    """Assert that this output of the first Solution ended the run: the model was not asked again."""
    run.delivered(1)
    assert 1 == len(run.requests), f"the model was asked again after the output {plain(output)}; the loop {run.outcome}"


OUTPUTS: dict[str, Any] = {
    "true": True,
    "integer": 7,
    "number": -0.25,
    "text": "  Zürich,\n😀 ",
    "text-that-is-json": '{"done": [1]}',
    "text-that-says-null": "null",
    "array": [1, ["two", None], {}],
    "nulls": {"name": None, "inner": {"also": None}},
    "calls": {"calls": [], "output": None},
}
"""Outputs of every type, some of which might be mistaken for something else."""


@requirement("loop010-output-ends-and-is-returned")
@pytest.mark.parametrize("value", OUTPUTS.values(), ids=OUTPUTS)
@pytest.mark.parametrize("turns", [0, 1], ids=["at-once", "in-turn-two"])
def test_an_output_is_returned(scenario: Scenario, implementation: Implementation, turns: int, value: Any) -> None:
    """The run returns the output and asks no more, whether in its first turn or in a later one."""
    scenario.plays(*[solution(CALL)] * turns, solution(output=value), TOO_LATE)

    run = implementation.run(tools=STEPS)

    run.delivered(turns + 1)
    assert turns + 1 == len(run.requests), f"the model was asked again after the output {plain(value)}"
    assert same_value(value, run.output), f"the run returned {run.output!r}"


@requirement("loop010-output-ends-and-is-returned")
def test_any_output_is_returned(scenario: Scenario, implementation: Implementation) -> None:
    """Whatever object the model writes as its output, the run returns the same JSON value."""

    @implementation.every(strategies.arguments(), first={"value": {"note": "\u2028", "nothing": None}})
    def _(value: Any) -> None:
        scenario.plays(solution(output=value), TOO_LATE)

        run = implementation.run(tools=STEPS)

        _asked_once(run, value)
        assert same_value(value, run.output), f"the run returned {run.output!r}"


SEVEN = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}


@requirement("loop010-output-ends-and-is-returned")
@pytest.mark.parametrize(
    ("topic", "value"),
    [("an output of a wrong type", {"n": "seven"}), ("an output that lacks a member", {})],
    ids=["type", "member"],
)
def test_an_output_that_breaks_its_schema(
    scenario: Scenario, implementation: Implementation, topic: str, value: Any
) -> None:
    """An output that fits the user's schema is returned; the effect of any other is left open."""
    scenario.plays(solution(output={"n": 7}), TOO_LATE)
    control = implementation.run(tools=STEPS, output_schema=SEVEN)
    _asked_once(control, {"n": 7})
    assert {"n": 7} == control.output
    scenario.plays(solution(output=value), solution(output={"n": 7}))

    run = implementation.run(tools=STEPS, output_schema=SEVEN)

    implementation.diverges(topic, classify(run))


ORDERS = pytest.mark.parametrize(
    "order", [("calls", "output"), ("output", "calls")], ids=["calls-first", "output-first"]
)
"""The members of a JSON object have no order: a loop may read the output before any call."""


@requirement("loop010-output-beside-calls-ends")
@ORDERS
def test_calls_beside_an_output_change_nothing(
    scenario: Scenario, implementation: Implementation, order: tuple[str, ...]
) -> None:
    """The run ends after the same Request, with the same output, as without the calls."""
    scenario.plays(solution(output={"done": 1}), TOO_LATE)
    without = implementation.run(tools=STEPS)
    without.delivered(1)
    if len(without.requests) > 1:
        raise NotReached("control: the output alone does not end the run")
    scenario.plays(solution(CALL, output={"done": 1}, order=order), TOO_LATE)

    run = implementation.run(tools=STEPS)

    _asked_once(run, {"done": 1})
    assert without.ending == run.ending


@requirement("loop010-calls-of-the-last-turn-run")
@ORDERS
@pytest.mark.parametrize("backwards", [False, True], ids=["in-order", "backwards"])
def test_calls_beside_an_output_run(
    scenario: Scenario, implementation: Implementation, order: tuple[str, ...], backwards: bool
) -> None:
    """Three calls, each of which needs the one before it, have all ended when the run returns."""
    calls = CHAIN[::-1] if backwards else CHAIN
    scenario.plays(solution(*calls, output="Done.", order=order), TOO_LATE)

    run = implementation.run(tools=STEPS)

    run.delivered(1)
    ended = [ran.tool for ran in run.ran if ran.ended is not None]
    left = [name for name in ("first", "second", "third") if name not in ended]
    assert not left, f"the run returned, and of the calls beside its output {', '.join(left)} had not ended"
    assert ["first", "second", "third"] == ended


@requirement("loop010-calls-of-the-last-turn-run")
def test_the_run_waits_for_its_last_call(scenario: Scenario, implementation: Implementation) -> None:
    """A call in the turn of an output takes a while; the run returns only once it has ended.

    In a stream the output arrives after the call has begun, so a loop that stops at the output stops while a call runs.
    """
    over = Gate("the run is over", lambda event: isinstance(event, Ended), ABSENCE)
    scenario.does("first", Returns("at last", hold=over))
    turn = solution(CALL, output="Done.")
    begun = Hold(tool_began("first"), behind(turn, 1))
    scenario.plays(Step(turn, DEFAULT, holds=(begun,)) if implementation.cell.stream else turn, TOO_LATE)

    run = implementation.run(tools=STEPS)

    run.delivered(1)
    run.tool_began("first")
    assert over.name in run.gave_up, "the run returned while a call ran"


FALSY: dict[str, Any] = {"zero": 0, "zero-point-zero": 0.0, "false": False, "text": "", "array": [], "object": {}}
"""Outputs that are not null, though many languages treat some of them as empty."""


@requirement("loop010-falsy-outputs-end")
@pytest.mark.parametrize("value", FALSY.values(), ids=FALSY)
def test_a_falsy_output(scenario: Scenario, implementation: Implementation, value: Any) -> None:
    """A falsy output ends the run, which returns it."""
    scenario.plays(solution(output=value), TOO_LATE)

    run = implementation.run(tools=STEPS)

    _asked_once(run, value)
    assert same_value(value, run.output), f"the run returned {run.output!r}"
