"""Profile ``agent-loop-010``: an output that is not null ends the run, when the calls beside it have ended."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.checks import Implementation, requirement
from looptck.framing import NATURAL
from looptck.history import same_value
from looptck.kit import Scene
from looptck.provider.gates import ABSENCE, Gate, tool_began
from looptck.provider.script import Hold, Step
from looptck.provider.toolbox import Returns
from looptck.run import Run
from looptck.solutions import behind, call, solution
from looptck.spec import strategies
from looptck.spec.leeway import led_to
from looptck.spec.probes import tools
from looptck.transcript import Ended
from looptck.verdicts import NotReached

TOO_LATE = solution(output="Too late.")
"""For whoever asks again where the run is over."""
CHAIN = (
    call("first", {"value": 1}, to="†state.first"),
    call("second", {"value": "†state.first"}, to="†state.second"),
    call("third", {"value": "†state.second"}, to="†state.third"),
)
"""Each needs what the one before it gives: to run them all takes as many looks at what is blocked."""
CALL = CHAIN[0]
STEPS = tools("first", "second", "third")


def _asked_once(run: Run) -> None:
    """The output of the first Solution ended the run: nothing was asked after it."""
    run.delivered(1)
    assert 1 == len(run.requests), f"the model was asked again after an output; the loop {run.outcome}"


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
"""Of every type, and some that might be taken for something else."""


@requirement("loop010-output-ends-and-is-returned")
@pytest.mark.parametrize("value", OUTPUTS.values(), ids=OUTPUTS)
@pytest.mark.parametrize("turns", [0, 1], ids=["at-once", "in-turn-two"])
def test_an_output_is_returned(provider: Scene, implementation: Implementation, turns: int, value: Any) -> None:
    """The run returns it, and asks for nothing more, in its first turn or in a later one."""
    provider.plays(*[solution(CALL)] * turns, solution(output=value), TOO_LATE)

    run = implementation.run(tools=STEPS)

    run.delivered(turns + 1)
    assert turns + 1 == len(run.requests), "the model was asked again after an output"
    assert same_value(value, run.output), f"the run returned {run.output!r}"


@requirement("loop010-output-ends-and-is-returned")
def test_any_output_is_returned(provider: Scene, implementation: Implementation) -> None:
    """Whatever object the model writes, it comes back as the same JSON value."""

    @implementation.every(strategies.arguments(), first={"value": {"note": "\u2028", "nothing": None}})
    def _(value: Any) -> None:
        provider.plays(solution(output=value), TOO_LATE)

        run = implementation.run(tools=STEPS)

        _asked_once(run)
        assert same_value(value, run.output), f"the run returned {run.output!r}"


SEVEN = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}


@requirement("loop010-output-ends-and-is-returned")
@pytest.mark.parametrize(
    ("topic", "value"),
    [("an output of a wrong type", {"n": "seven"}), ("an output that lacks a member", {})],
    ids=["type", "member"],
)
def test_an_output_that_breaks_its_schema(
    provider: Scene, implementation: Implementation, topic: str, value: Any
) -> None:
    """One that keeps to the user's schema is returned; what becomes of one that does not is left open."""
    provider.plays(solution(output={"n": 7}), TOO_LATE)
    control = implementation.run(tools=STEPS, output_schema=SEVEN)
    _asked_once(control)
    assert {"n": 7} == control.output
    provider.plays(solution(output=value), solution(output={"n": 7}))

    run = implementation.run(tools=STEPS, output_schema=SEVEN)

    implementation.diverges(topic, led_to(run))


ORDERS = pytest.mark.parametrize(
    "order", [("calls", "output"), ("output", "calls")], ids=["calls-first", "output-first"]
)
"""The members of a JSON object have no order: a loop may know the output before it knows of any call."""


@requirement("loop010-output-beside-calls-ends")
@ORDERS
def test_calls_beside_an_output_change_nothing(
    provider: Scene, implementation: Implementation, order: tuple[str, ...]
) -> None:
    """The run ends after the same Request, with the same output, as without the calls."""
    provider.plays(solution(output={"done": 1}), TOO_LATE)
    without = implementation.run(tools=STEPS)
    without.delivered(1)
    if len(without.requests) > 1:
        raise NotReached("control: the output alone does not end the run")
    provider.plays(solution(CALL, output={"done": 1}, order=order), TOO_LATE)

    run = implementation.run(tools=STEPS)

    _asked_once(run)
    assert without.ending == run.ending


@requirement("loop010-calls-of-the-last-turn-run")
@ORDERS
@pytest.mark.parametrize("backwards", [False, True], ids=["in-order", "backwards"])
def test_calls_beside_an_output_run(
    provider: Scene, implementation: Implementation, order: tuple[str, ...], backwards: bool
) -> None:
    """Three calls, each of which needs the one before it, have all ended when the run returns."""
    calls = CHAIN[::-1] if backwards else CHAIN
    provider.plays(solution(*calls, output="Done.", order=order), TOO_LATE)

    run = implementation.run(tools=STEPS)

    run.delivered(1)
    assert ["first", "second", "third"] == [ran.tool for ran in run.ran if ran.ended is not None]


@requirement("loop010-calls-of-the-last-turn-run")
def test_the_run_waits_for_its_last_call(provider: Scene, implementation: Implementation) -> None:
    """A call beside an output has not ended for a while; the run returns only when it has.

    In a stream the output comes when the call has begun, so that who stops there stops beside a call that runs.
    """
    over = Gate("the run is over", lambda event: isinstance(event, Ended), ABSENCE)
    provider.does("first", Returns("at last", hold=over))
    turn = solution(CALL, output="Done.")
    begun = Hold(tool_began("first"), behind(turn, 1))
    provider.plays(Step(turn, NATURAL, holds=(begun,)) if implementation.cell.stream else turn, TOO_LATE)

    run = implementation.run(tools=STEPS)

    run.delivered(1)
    run.tool_began("first")
    assert over.name in run.gave_up, "the run returned while a call ran"


FALSY: dict[str, Any] = {"zero": 0, "zero-point-zero": 0.0, "false": False, "text": "", "array": [], "object": {}}
"""What is not null, though many languages take some of it for nothing."""


@requirement("loop010-falsy-outputs-end")
@pytest.mark.parametrize("value", FALSY.values(), ids=FALSY)
def test_a_falsy_output(provider: Scene, implementation: Implementation, value: Any) -> None:
    """It ends the run, which returns it."""
    provider.plays(solution(output=value), TOO_LATE)

    run = implementation.run(tools=STEPS)

    _asked_once(run)
    assert same_value(value, run.output), f"the run returned {run.output!r}"
